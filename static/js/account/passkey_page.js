/** A page outside of the shell, such as the sign-in, whose forms a passkey fills. */

import { startPasskeys } from "./passkeys.js";

startPasskeys(document);
