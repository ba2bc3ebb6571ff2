/** What every page does. */

import { startTheme } from "./theme.js";
import { localiseTimes, rememberTimeZone } from "./time_zone.js";
import { startToasts } from "./toasts.js";

startTheme();
startToasts();
rememberTimeZone();
localiseTimes(document);
