"""A feature's workspace `workflow/<slug>/`: what is seeded, reviewed, committed, published and read of it."""
