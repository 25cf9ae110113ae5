// A reporter of node's own test runner: tells Holdfast of every test.
const line = (said) => JSON.stringify(said) + "\n";
const first = (text) => String(text).split("\n").find((one) => one.trim()) || "";

function reason(error, printed) {
  const cause = error && error.cause;
  const said = first((cause && cause.message) || cause || (error && error.message) || "");
  return said === "test failed" ? printed || said : said;
}

export default async function* (source) {
  yield line({ began: true });
  const open = new Map();
  const printed = new Map();
  for await (const { type, data } of source) {
    const file = data && data.file;
    if (type === "test:stderr") {
      const error = String(data.message).split("\n").find((one) => /^(\w*Error\b|\w+ \[\w+\]: )/.test(one));
      if (error) printed.set(file, error);
    } else if (type === "test:start") {
      const titles = (open.get(file) || []).slice(0, data.nesting);
      titles[data.nesting] = data.name;
      open.set(file, titles);
    } else if (type === "test:pass" || type === "test:fail") {
      const details = data.details || {};
      const titles = [...(open.get(file) || []).slice(0, data.nesting), data.name];
      const isFile = data.nesting === 0 && file && (data.name === file || file.endsWith("/" + data.name));
      if (isFile) {
        if (type === "test:fail") yield line({ broken: file, reason: reason(details.error, printed.get(file)) });
      } else if (details.type !== "suite") {
        const skipped = data.skip !== undefined || data.todo !== undefined;
        const outcome = skipped ? "skipped" : type === "test:pass" ? "passed" : "failed";
        yield line({ titles, file, outcome, reason: type === "test:fail" ? reason(details.error) : "" });
      } else if (type === "test:fail" && details.error && details.error.failureType !== "subtestsFailed") {
        yield line({ titles, file, outcome: "error", reason: reason(details.error) });
      }
    }
  }
  yield line({ ended: true });
}
