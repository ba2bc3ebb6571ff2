/** What every page does. */

import { startTheme } from "./theme.js";
import { startToasts } from "./toasts.js";
import { localiseTimes, rememberTimeZone } from "./time_zone.js";

startTheme();
startToasts();
rememberTimeZone();
localiseTimes(document);
