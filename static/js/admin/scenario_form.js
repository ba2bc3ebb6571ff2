/** The form of a scenario in the admin. */

import { startToolChoice } from "../scenarios/tool_choice.js";

startToolChoice(document);
