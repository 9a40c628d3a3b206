// A minimal hook in JavaScript: find the tool's name and let the call pass.
const event = JSON.parse(require("fs").readFileSync(0, "utf8"));
if (event.tool_name) console.log("{}");
