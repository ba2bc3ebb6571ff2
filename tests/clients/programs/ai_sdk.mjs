// The AI SDK with @ai-sdk/openai over chat completions: an answer, a stream, and a tool in a loop. Prints JSON.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const openai = createOpenAI({ baseURL: process.env.BASE_URL, apiKey: process.env.KEY });
const whole = await generateText({ model: openai.chat("ok"), prompt: "Say hello." });
let streamed = "";
for await (const piece of streamText({ model: openai.chat("ok"), prompt: "Say hello." }).textStream) streamed += piece;
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
  model: openai.chat("tools-script"),
  prompt: "What time is it?",
  tools: { get_time },
  stopWhen: stepCountIs(3),
});
console.log(
  JSON.stringify({ whole: whole.text, tokens: whole.usage.totalTokens, streamed, called, looped: looped.text }),
);
