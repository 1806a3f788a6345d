// Vercel's AI SDK asks an endpoint: the same question and answers as openai.mjs.
import { readFileSync } from "node:fs";

const load = (name) => import(`${process.env.NODE_MODULES}/${name}/dist/index.js`);
const { APICallError, Output, generateText, jsonSchema, streamText, tool } = await load("ai");
const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const { base, key, model, cases, schema, short, tools } = JSON.parse(readFileSync(0, "utf8"));
const provider = createOpenAICompatible({
  ...{ name: "endpoint", baseURL: base, apiKey: key },
  ...{ includeUsage: true, supportsStructuredOutputs: true },
});
const given = (more = {}) => ({ model: provider(model), prompt: short, maxRetries: 0, ...more });
const { name, description } = tools[0].function;

const CASES = {
  chat: async () => {
    const said = await generateText(given());
    return { text: said.text, end: said.finishReason, tokens: said.usage.outputTokens };
  },
  stream: async () => {
    const said = streamText(given());
    let pieces = 0;
    for await (const piece of said.textStream) pieces += piece ? 1 : 0;
    return { pieces, tokens: (await said.usage).outputTokens };
  },
  tools: async () => {
    const weather = { [name]: tool({ description, inputSchema: jsonSchema(schema) }) };
    const [call] = (await generateText(given({ tools: weather, toolChoice: "required", temperature: 0 }))).toolCalls;
    return { name: call.toolName, arguments: call.input };
  },
  "structured output": async () => {
    const output = Output.object({ schema: jsonSchema(schema) });
    return { content: (await generateText(given({ prompt: JSON.stringify({ city: "Paris" }), output }))).output };
  },
  "unknown model": async () => {
    try {
      await generateText(given({ model: provider("no-such-model") }));
      return {};
    } catch (error) {
      if (!APICallError.isInstance(error)) throw error;
      // It has one kind of error for all, with the status and the server's words.
      return { error: error.statusCode === 404 ? "NotFoundError" : "", message: error.message };
    }
  },
};

const seen = {};
for (const one of cases) seen[one] = await CASES[one]().catch((error) => ({ broken: String(error) }));
process.stdout.write(JSON.stringify(seen));
