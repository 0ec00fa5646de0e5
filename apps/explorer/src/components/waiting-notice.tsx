import { stayHere, waitingRoute } from '../state/location.ts'

/** Says that the page waits for the node before it opens the view that the visitor has chosen. */
export function WaitingNotice() {
  return (
    <div role="status">
      {waitingRoute.value && (
        <div class="notice waiting">
          <p>
            <strong>The node does not answer.</strong> This page stays as it is, and opens the view that you chose once
            the node answers.
          </p>
          <button type="button" onClick={stayHere}>
            Stay here
          </button>
        </div>
      )}
    </div>
  )
}
