/** The page of the documents of a conversation, or of a scenario. */

import { Announcer } from "../shared/announcer.js";
import { find } from "../shared/dom.js";
import { startDocuments } from "./documents.js";

const page = find(document, "#main");
const announcer = new Announcer(find(page, '[data-part="announcer"]'));

startDocuments(page, { say: (sentence) => announcer.say(sentence) });
