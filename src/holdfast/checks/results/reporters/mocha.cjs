// A reporter of mocha that prints what mocha prints by itself, and tells Holdfast of every test.
const fs = require("node:fs");
const { createRequire } = require("node:module");

const file = process.env.HOLDFAST_REPORT;
delete process.env.HOLDFAST_REPORT; // what the tests start is none of this run
const tell = (said) => fs.appendFileSync(file, JSON.stringify(said) + "\n");

// The reporter is outside of the project, and mocha inside.
const inside = createRequire(process.argv[1] || process.cwd() + "/");
let Mocha;
try {
  Mocha = inside("mocha");
} catch {
  Mocha = createRequire(process.cwd() + "/")("mocha");
}

tell({ began: true });

const titles = (test) => (test.titlePath ? test.titlePath() : [test.fullTitle()]);
const reason = (error) => String((error && (error.message || error)) || "").split("\n")[0];

module.exports = class extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const told = (test, outcome, error) =>
      tell({ titles: titles(test), file: test.file, outcome, reason: reason(error) });
    runner.on("pass", (test) => told(test, "passed"));
    runner.on("pending", (test) => told(test, "skipped"));
    runner.on("fail", (test, error) => {
      if (test.type === "hook") {
        // The hook of a test is an error of that test.
        told(test.ctx && test.ctx.currentTest ? test.ctx.currentTest : test, "error", error);
      } else {
        told(test, "failed", error);
      }
    });
    runner.once("end", () => tell({ ended: true }));
  }
};
