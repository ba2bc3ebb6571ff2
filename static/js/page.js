/** What every page does. */

import { startTheme } from "./theme.js";
import { localiseTimes, rememberTimeZone } from "./time_zone.js";

startTheme();
rememberTimeZone();
localiseTimes(document);
