/** The page of the documents of a conversation, or of a scenario. */

import { Announcer } from "../shared/announcer.js";
import { startDocuments } from "./documents.js";

const page = document.getElementById("main");
const announcer = new Announcer(page.querySelector('[data-part="announcer"]'));

startDocuments(page, { say: (sentence) => announcer.say(sentence) });
