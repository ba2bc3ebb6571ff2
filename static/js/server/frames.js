/**
 * The frames that the server sends, as types: `conversations/core/frames/definitions.py` says what each means.
 *
 * @typedef {{type: "message.stored", conversation: string, client_id: string | null, message: number, reply: number,
 *   position: number, cleaned: boolean}} MessageStored
 * @typedef {{type: "message.marked", conversation: string, message: number, position: number, pinned: boolean,
 *   excluded: boolean, never_recalled: boolean}} MessageMarked
 * @typedef {{type: "messages.forgotten", conversation: string, before: number}} MessagesForgotten
 * @typedef {{type: "message.shown", conversation: string, message: number, position: number}} MessageShown
 * @typedef {{type: "model.chosen", conversation: string, language_model: string, effort: string}} ModelChosen
 * @typedef {{type: "reply.started", conversation: string, reply: number, position: number}} ReplyStarted
 * @typedef {{type: "reply.searching", conversation: string, reply: number, lasts: boolean}} ReplySearching
 * @typedef {{type: "reply.delta", conversation: string, reply: number, step: number, at: number,
 *   text: string}} ReplyDelta
 * @typedef {{type: "reply.reasoning", conversation: string, reply: number, step: number, at: number,
 *   text: string}} ReplyReasoning
 * @typedef {{type: "reply.html", conversation: string, reply: number, step: number, start: number, end: number,
 *   html: string}} ReplyHtml
 * @typedef {{type: "reply.step", conversation: string, reply: number, step: number}} ReplyStep
 * @typedef {{type: "reply.restarted", conversation: string, reply: number, step: number}} ReplyRestarted
 * @typedef {{type: "reply.done" | "reply.failed", conversation: string, reply: number, position: number,
 *   state: string}} ReplyEnded
 * @typedef {{type: "window.recorded", conversation: string, reply: number, first_position: number,
 *   recalled: number[], recalled_positions: number[], passages: number}} WindowRecorded
 * @typedef {{type: "conversation.awaiting_approval", conversation: string, awaiting_approval: boolean}} ConversationAwaitsApproval
 * @typedef {{type: "conversation.writing", conversation: string, writing: boolean}} ConversationWriting
 * @typedef {{type: "conversation.renamed", conversation: string, title: string}} ConversationRenamed
 * @typedef {{type: "conversation.deleted", conversation: string, deleted: boolean,
 *   can_be_undone: boolean}} ConversationDeleted
 * @typedef {{type: "list.changed", conversation?: undefined, conversations: string[]}} ListChanged
 * @typedef {{type: "conversation.snapshot", conversation: string, from_position: number, parent: number | null,
 *   title: string, messages: DrawnMessage[], window: CoveredWindow, costs: string, model_key: string,
 *   awaiting_approval: string[], writing: string[], live: boolean}} ConversationSnapshot
 * @typedef {{type: "error", code: string, message: string, conversation?: string | null,
 *   client_id?: string | null}} ErrorFrame
 *
 * @typedef {{id: number, state: string, html: string}} DrawnMessage a message of a snapshot
 * @typedef {{first_position?: number, forgotten_before?: number, has_pins_above?: boolean, left_out?: Record<string, string>,
 *   pins?: number[], excluded?: number[], recalls?: boolean, recalled?: number[],
 *   recalled_positions?: number[], would_recall?: number[] | null, would_recall_positions?: number[] | null,
 *   model?: string, budget_tokens?: number}} CoveredWindow what a window holds; *left_out* is message → reason in words,
 *   *recalled* are the messages above it that were sent again, *would_recall* those that would be for what is being
 *   written, each with where they stand; *model* is the label of the language model that it is for
 *
 * @typedef {ReplyDelta | ReplyReasoning | ReplyHtml} ReplyPiece a piece of a reply that streams
 *
 * @typedef {MessageStored | MessageMarked | MessagesForgotten | MessageShown | ModelChosen | ReplyStarted | ReplySearching | ReplyPiece | ReplyStep |
 *   ReplyRestarted | ReplyEnded | WindowRecorded | ConversationAwaitsApproval | ConversationWriting |
 *   ConversationRenamed | ConversationDeleted | ListChanged | ConversationSnapshot | ErrorFrame} ServerFrame
 */

export {};
