// The AI SDK with @ai-sdk/openai: an answer, a stream, a history, and a tool in a loop. Prints JSON.
// INTERFACE says over which: `chat` or `responses`; over the second it sends ids in place of what was answered before.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const openai = createOpenAI({ baseURL: process.env.BASE_URL, apiKey: process.env.KEY });
const model = (name) => openai[process.env.INTERFACE](name);
const whole = await generateText({ model: model("ok"), prompt: "Say hello." });
let streamed = "";
for await (const piece of streamText({ model: model("ok"), prompt: "Say hello." }).textStream) streamed += piece;
const asked = { role: "user", content: "Say hello." };
const history = [asked, ...whole.response.messages, { role: "user", content: "And again?" }];
const again = await generateText({ model: model("ok"), messages: history });
const called = [];
const get_time = tool({
  description: "Return the time.",
  inputSchema: z.object({}).passthrough(),
  execute: async () => {
    called.push("get_time");
    return "noon";
  },
});
const looped = await generateText({
  model: model("tools-script"),
  prompt: "What time is it?",
  tools: { get_time },
  stopWhen: stepCountIs(3),
});
const answers = { whole: whole.text, streamed, again: again.text, looped: looped.text };
console.log(JSON.stringify({ ...answers, tokens: whole.usage.totalTokens, called }));
