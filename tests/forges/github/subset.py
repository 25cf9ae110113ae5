"""Makes `data/`: the part of what GitHub publishes about its API that the client touches.

    npm pack @octokit/openapi @octokit/graphql-schema     # unpack each into a folder
    python -m tests.forges.github.subset OPENAPI_FOLDER GRAPHQL_FOLDER

Operations, parameters, types and arguments stay as published. Descriptions go, and so does every operation and every
field that nothing asks for. The versions of the two packages are kept with what was taken from them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import graphql

from holdfast.forges.github import queries

DATA = Path(__file__).with_name("data")
OPERATIONS = (
    ("/repos/{owner}/{repo}/pulls", "get"),
    ("/repos/{owner}/{repo}/pulls", "post"),
    ("/repos/{owner}/{repo}/pulls/{pull_number}", "get"),
    ("/repos/{owner}/{repo}/pulls/{pull_number}", "patch"),
    ("/repos/{owner}/{repo}/pulls/{pull_number}/reviews", "get"),
    ("/repos/{owner}/{repo}/issues", "post"),
    ("/repos/{owner}/{repo}/issues/{issue_number}/comments", "get"),
)
PROSE = frozenset(("description", "example", "examples", "externalDocs", "summary", "title", "x-github", "tags"))


def version(package: Path) -> str:
    known = json.loads((package / "package.json").read_text())
    return f"{known['name']} {known['version']}"


def rest(package: Path) -> dict[str, Any]:
    """Operations with their parameters, bodies and answers as JSON Schema, and an example of each answer."""
    published = json.loads((package / "generated" / "api.github.com.json").read_text())
    parts = published["components"]
    needed: dict[str, Any] = {}

    def schema(one: Any, inside_properties: bool = False) -> Any:
        if isinstance(one, list):
            return [schema(each) for each in one]
        if not isinstance(one, dict):
            return one
        if "$ref" in one:
            name = one["$ref"].rpartition("/")[2]
            if name not in needed:
                needed[name] = None
                needed[name] = schema(parts["schemas"][name])
            return {"$ref": f"#/schemas/{name}"}
        kept = {
            name: schema(value, name == "properties")
            for name, value in one.items()
            if inside_properties or name not in PROSE
        }
        if not inside_properties and kept.pop("nullable", False):
            return {"anyOf": [kept, {"type": "null"}]}
        return kept

    operations = []
    for path, method in OPERATIONS:
        one = published["paths"][path][method]
        parameters = [
            parts["parameters"][p["$ref"].rpartition("/")[2]] if "$ref" in p else p for p in one["parameters"]
        ]
        status, answer = next((code, found) for code, found in one["responses"].items() if code in ("200", "201"))
        content = answer["content"]["application/json"]
        (example,) = content["examples"].values()
        body = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        operations.append(
            {
                "id": one["operationId"],
                "method": method.upper(),
                "path": path,
                "parameters": [
                    {
                        "name": p["name"],
                        "in": p["in"],
                        "required": p.get("required", False),
                        "schema": schema(p["schema"]),
                    }
                    for p in parameters
                ],
                "body": schema(body) if body else None,
                "status": int(status),
                "answer": schema(content["schema"]),
                "example": parts["examples"][example["$ref"].rpartition("/")[2]]["value"],
            }
        )
    return {"from": version(package), "operations": operations, "schemas": needed}


def touched(schema: graphql.GraphQLSchema) -> dict[str, set[str]]:
    """The fields that our queries ask for, by the type they belong to."""
    found: dict[str, set[str]] = {}

    class Touch(graphql.Visitor):
        def enter_field(self, node, *_):
            found.setdefault(info.get_parent_type().name, set()).add(node.name.value)

    for query in (queries.DEFAULT_BRANCH, queries.THREADS, queries.MORE_COMMENTS):
        document = graphql.parse(query)
        assert graphql.validate(schema, document) == []
        info = graphql.TypeInfo(schema)
        graphql.visit(document, graphql.TypeInfoVisitor(info, Touch()))
    return found


def graph(package: Path) -> str:
    """Types with the fields that are asked for and all their arguments, and whatever those are made of."""
    schema = graphql.build_schema((package / "schema.graphql").read_text(), assume_valid_sdl=True)
    fields = touched(schema)
    fields["Node"] = {"id"}
    for name in ("User", "Bot", "Mannequin"):
        fields.setdefault(name, set()).update(fields["Actor"])
    written, waiting, seen = [], sorted(fields), set(fields)
    while waiting:
        kind = schema.type_map[waiting.pop(0)]
        if isinstance(kind, graphql.GraphQLObjectType | graphql.GraphQLInterfaceType):
            among = [one for one in kind.interfaces if one.name in fields]
            wanted = fields[kind.name].union(*(fields[one.name] for one in among))
            kept = {name: field for name, field in kind.fields.items() if name in wanted}
            written.append(type(kind)(kind.name, kept, among))
            types = [field.type for field in kept.values()]
            types += [argument.type for field in kept.values() for argument in field.args.values()]
        else:
            written.append(kind)
            types = [one.type for one in getattr(kind, "fields", {}).values()]
        for one in (graphql.get_named_type(each) for each in types):
            if one.name not in seen and not graphql.is_specified_scalar_type(one):
                seen.add(one.name)
                waiting.append(one.name)
    printed = (graphql.print_type(bare(one)) for one in sorted(written, key=lambda one: one.name))
    return f"# From {version(package)}, by tests/forges/github/subset.py\n\n" + "\n\n".join(printed) + "\n"


def bare(kind):
    """A type without its descriptions."""
    kind.description = None
    for one in [*getattr(kind, "fields", {}).values(), *getattr(kind, "values", {}).values()]:
        one.description = None
        for argument in getattr(one, "args", {}).values():
            argument.description = None
    return kind


def main(openapi: str, schema: str) -> None:
    document = json.dumps(rest(Path(openapi)), indent=1, ensure_ascii=False)
    (DATA / "openapi-subset.json").write_text(document + "\n")
    (DATA / "subset.graphql").write_text(graph(Path(schema)))


if __name__ == "__main__":
    main(*sys.argv[1:])
