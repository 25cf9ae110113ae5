"""What is asked in GraphQL: only there does a GitHub say whether a thread is resolved."""

from __future__ import annotations

DEFAULT_BRANCH = """query HoldfastDefaultBranch($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { defaultBranchRef { name } }
}"""

_COMMENTS = """pageInfo { hasNextPage endCursor }
nodes {
  id author { login } authorAssociation body createdAt state
  pullRequestReview { submittedAt }
}"""

THREADS = f"""query HoldfastThreads($owner: String!, $name: String!, $number: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{
    pullRequest(number: $number) {{
      reviewThreads(first: 50, after: $after) {{
        pageInfo {{ hasNextPage endCursor }}
        nodes {{
          id path line originalLine isResolved
          comments(first: 50) {{ {_COMMENTS} }}
        }}
      }}
    }}
  }}
}}"""

MORE_COMMENTS = f"""query HoldfastComments($id: ID!, $after: String) {{
  node(id: $id) {{
    ... on PullRequestReviewThread {{ comments(first: 100, after: $after) {{ {_COMMENTS} }} }}
  }}
}}"""
