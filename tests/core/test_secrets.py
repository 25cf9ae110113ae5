"""Likely secrets are found by their beginning or their key; hashes, ids, names and placeholders are none."""

from __future__ import annotations

import pytest

from holdfast.core.definition import Check
from holdfast.core.events import Noted
from holdfast.core.secrets import DEFAULT, Secrets, told

BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
"""Put behind a beginning only here, so that no tool takes this file for a leak."""
BEGIN, END = "-----BEGIN RSA PRIVATE " + "KEY-----", "-----END RSA PRIVATE " + "KEY-----"
LINES = ("M" + BODY[:30] + "abc\n") * 20

SECRETS = {
    "AWS access key": ["AKIA" + "QYLPMN5HHHFPZAM2"],
    "GitHub token": ["ghp_" + BODY, "ghs_" + BODY, "github_pat_" + BODY],
    "GitLab token": ["glpat-" + BODY[:20]],
    "Slack token": ["xoxb-1234567890-" + BODY],
    "Slack webhook": ["https://hooks.slack.com/services/T0AB1CD2E/B1FG2HI3J/" + BODY[:24]],
    "Stripe key": ["sk_live_" + BODY[:24], "whsec_" + BODY],
    "Anthropic key": ["sk-ant-api03-" + BODY],
    "OpenAI key": ["sk-proj-" + BODY],
    "Google key": ["AIza" + BODY[:35], "GOCSPX-" + BODY[:28]],
    "npm token": ["npm_" + BODY],
    "PyPI token": ["pypi-AgEIcHlwaS5vcmc" + BODY + BODY],
    "JWT": ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + BODY],
    "Authorization header": ["Authorization: Bearer " + BODY, "authorization: Basic dXNlcjpwYXNzd29yZDE="],
    "netrc password": ["machine git.corp login me password tr0ub4dor", "default\n  login me\n  password tr0ub4dor\n"],
    "URL password": ["postgres://app:s3cretpw@db:5432/x", "https://me:tr0ub4dor@git.corp/x.git"],
    "password": [
        "password=hunter2",
        "DB_PASSWORD: 's3cr3t!x'",
        '"password": "abc123xyz"',
        '{\\"password\\": \\"abc123xyz\\"}',
        "Server=db;User=sa;Password=Abc!12345;",
    ],
    "secret": [
        "aws_secret_access_key = " + BODY + "K7/+",
        "AccountKey=" + BODY + "==",
        "X-Api-Key: " + BODY,
        "client_secret='" + BODY + "'",
        "export TOKEN=" + BODY,
    ],
    "private key": [
        BEGIN + "\n" + LINES + END,
        BEGIN + "\\n" + LINES.replace("\n", "\\n") + END,
        BEGIN + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,ABCD\n\n" + LINES + END,
        BEGIN + "\n" + LINES,
    ],
}

INNOCENT = [
    "d0fbd13e8a5c7a4f0b6b9f1e2d3c4b5a69788796",
    "01J8ZQ6X5V3N2K1M0P9R8S7T6V",
    "token=01J8ZQ6X5V3N2K1M0P9R8S7T6V",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0bb822cd15d6c15b0f00a08",
    "integrity sha512-" + BODY * 2,
    "tests/test_password.py::test_token_1 PASSED",
    "test_user_password::case_1",
    "max_tokens=4096, tokens: 123456",
    "password: required",
    "password = getpass.getpass()",
    "password = settings.DB_PASSWORD1",
    "password = user_password2",
    "PASSWORD=${DB_PASSWORD1}",
    "password: <your-password1>",
    "api_key=YOUR_API_KEY_HERE_123",
    "secret: my-secret-name-01",
    "token: access_token_v2_for_tests",
    "token = os.environ['GITHUB_TOKEN_1']",
    "private_key = ~/.ssh/id_ed25519_for_me",
    "PWD=/home/u1/x",
    "on this machine the login form and password field",
    "the default login name and password fields",
    "postgres://postgres:postgres@localhost/test",
    "git@github.com:owner/repo.git http://localhost:8080/a@b",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ghp_" + "x" * 36,
    BEGIN + " is how it begins",
    "password=[redacted: password] [redacted: GitHub token]",
]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in SECRETS.items() for text in texts])
def test_a_secret_is_replaced_by_its_kind_once(kind, text):
    counts: dict[str, int] = {}
    clean = DEFAULT.without(f"before {text} after", counts)
    assert counts == {kind: 1}
    assert f"[redacted: {kind}]" in clean
    assert clean.startswith("before ")
    assert clean.endswith("after")
    assert DEFAULT.without(clean, {}) == clean


@pytest.mark.parametrize("text", INNOCENT)
def test_what_only_looks_strange_stays(text):
    assert DEFAULT.find(text) == []


def test_several_are_counted_by_kind():
    counts: dict[str, int] = {}
    DEFAULT.without(f"{SECRETS['GitHub token'][0]} {SECRETS['GitHub token'][1]} password=hunter2", counts)
    assert counts == {"GitHub token": 2, "password": 1}
    assert told({"GitHub token": 2}) == "redacted, as likely secrets: 2 × GitHub token"


def test_values_are_cleaned_wherever_a_text_is_and_by_the_key_before_it():
    counts: dict[str, int] = {}
    said = {"db_password": "s3cr3tpw", "list": [{"deep": "ghp_" + BODY}], "token": 17, "name": "it"}
    clean = DEFAULT.cleaned((Noted("password=hunter2"), said), counts)
    assert clean[0] == Noted("password=[redacted: password]")
    assert clean[1]["db_password"] == "[redacted: password]"
    assert clean[1]["list"] == [{"deep": "[redacted: GitHub token]"}]
    assert counts == {"password": 2, "GitHub token": 1}


def test_what_has_no_secret_is_the_same_object_and_commands_stay_as_they_are():
    plain = (Noted("nothing here"), {"a": ["b", 1, None]})
    assert DEFAULT.cleaned(plain, {}) is plain
    check = Check("test", ("curl", "-H", "Authorization: Bearer " + BODY))
    assert DEFAULT.cleaned((check,), {})[0] is check


def test_a_project_can_have_tokens_of_its_own():
    own = Secrets(prefixes={"Acme token": "acme_"})
    assert own.without("use acme_" + BODY, {}) == "use [redacted: Acme token]"
    assert DEFAULT.find("use acme_" + BODY) == []
