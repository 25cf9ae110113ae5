"""Agent hosts and their sessions: which workflow each is at, what their hooks noted, what their notes say."""
