/** What every page does. */

import { localiseTimes, rememberTimeZone } from "./local_times.js";
import { startTheme } from "./theme.js";
import { startToasts } from "./toasts.js";

startTheme();
startToasts();
rememberTimeZone();
localiseTimes(document);
