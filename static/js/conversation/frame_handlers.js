/** What each frame from the server does to the page. */

/** @param {{onHole: () => void}} options called when more is new than a snapshot holds, or it is above the page */
export function frameHandlers({
  conversation,
  thread,
  sight,
  connection,
  sidebar,
  composer,
  meter,
  costs,
  page,
  onHole,
}) {
  const sync = ({ position }) => connection.sync(position);

  function takePiece(frame) {
    if (thread.takePiece(frame)) {
      connection.sync();
    }
  }

  function takeSnapshot(snapshot) {
    if (snapshot.from_position > thread.position || snapshot.from_position < thread.firstPosition) {
      onHole();
      return;
    }
    if (!thread.continues(snapshot)) {
      connection.sync(thread.firstPosition);
      return;
    }
    thread.takeSnapshot(snapshot);
    costs.show(snapshot.costs);
    sight.see(thread.streamingArticle ? snapshot.window : {});
    sidebar.showAsking(snapshot.asking);
    if (snapshot.title) {
      sidebar.showTitle(snapshot.title);
    }
    showState();
    if (!thread.streamingArticle || thread.asks) {
      lookAhead();
    }
  }

  /** Ask for the window of the next message: it stays as it is until the reply goes on, which may wait for days. */
  function lookAhead() {
    meter.estimate(composer.field.value);
  }

  function takeMark({ message, pinned, excluded }) {
    sight.mark(message, { pinned, excluded });
    lookAhead();
  }

  function showState() {
    page.classList.toggle("is-streaming", Boolean(thread.streamingArticle));
    page.classList.toggle("is-asking", thread.asks);
    page.classList.toggle("is-empty", !thread.articles.length);
  }

  const handlers = {
    "message.stored": sync,
    "reply.started": sync,
    "reply.delta": takePiece,
    "reply.html": takePiece,
    "reply.step": () => connection.sync(),
    "reply.done": sync,
    "reply.failed": sync,
    "window.recorded": ({ first_position }) => sight.see({ first_position }),
    "message.marked": takeMark,
    "message.shown": sync,
    "conversation.snapshot": takeSnapshot,
  };
  const ours = Object.entries(handlers).map(([type, handle]) => [
    type,
    (frame) => frame.conversation === conversation && handle(frame),
  ]);
  return {
    ...Object.fromEntries(ours),
    "conversation.asks": (frame) => sidebar.takeAsking(frame),
    error: ({ message }) => composer.showError(message),
  };
}
