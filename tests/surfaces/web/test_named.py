"""While the page runs, every answer about a step that waits for a person names it, and an agent is to stop or wait."""

from __future__ import annotations

import json
import os

import pytest

from holdfast.errors import Refused
from holdfast.machine import served as served_
from holdfast.surfaces import tools
from holdfast.surfaces.mcp import replies
from tests.surfaces.web.site import Site


def test_answers_about_a_waiting_step_name_the_page_while_it_runs(site: Site):
    id = site.waiting()
    with site.serving() as served:
        address = f"{served.origin}/w/{site.ulid(id)}"
        assert f"For a person: the page {address}\n" in site.bench.ok("status").out
        found = site.bench.ok("next", "--json").json["blockers"][0]["remedies"]
        assert [one.get("who") for one in found if address in str(one)] == ["person"]
        assert found[0] == {"who": "agent", "text": "show sign-off to a person and stop"}
        assert found[1]["command"] == "holdfast wait --for person"
        assert address in site.bench.ok("resume-packet").out
        answer = tools.call(site.bench.open(), "get_next_step", {"workflow_id": id})
        assert address in json.dumps(answer)
        assert "approve_step" not in str(answer["required_action"])
        assert answer["until_decided"].startswith("show sign-off to a person and stop, or in a shell: holdfast wait ")
        refused = site.bench.agent("approve", "sign-off", "--json").error
        assert address in str([one for one in refused["remedies"] if one["who"] == "person"])
        asks = {"workflow_id": id, "step": "sign-off", "approved": True}
        with pytest.raises(Refused) as caught:
            tools.call(site.bench.open(), "approve_step", asks)
        assert address in str(replies.refusal(caught.value, site.bench.open().scope(id)).content)
    assert "the page http" not in site.bench.ok("status").out


def test_a_record_that_names_another_address_is_not_shown_to_a_person(site: Site):
    site.waiting()
    file = served_.path(site.place, 8414)
    os.makedirs(os.path.dirname(file), exist_ok=True)
    for origin in ("https://evil.example", "http://holdfast.localhost:9999", "http://holdfast.localhost:8414@evil"):
        with open(file, "w", encoding="utf-8") as record:
            record.write(json.dumps({"socket": "/x", "pid": os.getpid(), "origin": origin}))
        assert served_.address(site.place) == ""
