// OpenAI's client for Node asks an endpoint: the counterpart of openai_python.py, with the same question on standard input
// and the same answers on standard output. NODE_MODULES: the folder with the installed package.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const load = createRequire(`${process.env.NODE_MODULES}/client.js`);
const OpenAI = load("openai").OpenAI;
const errors = load("openai");
const question = JSON.parse(readFileSync(0, "utf8"));
const { model, tools, schema, short } = question;

const client = (more = {}) =>
  new OpenAI({ baseURL: question.base, apiKey: question.key, maxRetries: 0, timeout: 60_000, ...more });
const messages = (text) => [{ role: "user", content: text }];

async function failure(ask) {
  try {
    await ask();
  } catch (error) {
    if (error instanceof errors.APIError && error.status) {
      const message = error.error?.message ?? null;
      return { error: error.constructor.name, status: error.status, message, text: error.message };
    }
    if (error instanceof errors.OpenAIError) return { error: error.constructor.name };
    throw error;
  }
  return {};
}

const CASES = {
  chat: async () => {
    const answer = await client().chat.completions.create({ model, messages: messages(short), max_tokens: 64 });
    const [choice] = answer.choices;
    const tokens = answer.usage?.completion_tokens ?? 0;
    return { text: choice.message.content, end: choice.finish_reason, model: answer.model, tokens };
  },
  stream: async () => {
    const pieces = [];
    let tokens = 0;
    const given = { model, messages: messages(short), stream: true, stream_options: { include_usage: true } };
    for await (const event of await client().chat.completions.create(given)) {
      for (const choice of event.choices) if (choice.delta.content) pieces.push(choice.delta.content);
      tokens = event.usage?.completion_tokens ?? tokens;
    }
    return { text: pieces.join(""), pieces: pieces.length, tokens };
  },
  models: async () => {
    const names = [];
    for await (const one of client().models.list()) names.push(one.id);
    return { names };
  },
  tools: async () => {
    const given = { model, messages: messages(short), tools, tool_choice: "required", temperature: 0 };
    const [choice] = (await client().chat.completions.create(given)).choices;
    const [call] = choice.message.tool_calls;
    return { name: call.function.name, arguments: JSON.parse(call.function.arguments), end: choice.finish_reason };
  },
  "tools, streamed": async () => {
    const given = { model, messages: messages(short), tools, tool_choice: "required", temperature: 0, stream: true };
    let [name, text] = ["", ""];
    for await (const event of await client().chat.completions.create(given))
      for (const choice of event.choices)
        for (const call of choice.delta.tool_calls ?? []) {
          name ||= call.function.name ?? "";
          text += call.function.arguments ?? "";
        }
    return { name, arguments: JSON.parse(text) };
  },
  "structured output": async () => {
    const response_format = { type: "json_schema", json_schema: { name: "place", schema, strict: true } };
    const text = JSON.stringify({ city: "Paris" });
    const answer = await client().chat.completions.create({ model, messages: messages(text), response_format });
    return { content: JSON.parse(answer.choices[0].message.content) };
  },
  "unknown model": () =>
    failure(() => client().chat.completions.create({ model: "no-such-model", messages: messages(short) })),
  "wrong request": () => failure(() => client().chat.completions.create({ model, messages: messages(short), max_tokens: -1 })),
  "wrong path": () => failure(() => client().post("/nobody/knows", { body: { model } })),
  "wrong key": () => {
    const other = client({ apiKey: "nobody-has-this-key-0123456789abcdef" });
    return failure(() => other.chat.completions.create({ model, messages: messages(short) }));
  },
};

const cases = {};
for (const name of question.cases)
  cases[name] = await CASES[name]().catch((error) => ({ broken: `${error.constructor.name}: ${error.message}` }));
process.stdout.write(JSON.stringify(cases));
