import { type StartedView, type StoredValue, startView } from '@ledger-state/ledger'
import { chooseFormat } from '../protocol/accept.js'
import { CONTENT_TYPE, VIEW_FUNCTION_BCS } from '../protocol/media-types.js'
import { BODY_ERRORS, type Operation, type OperationRequest, STATE_PARAMETERS } from './parts/operation.js'
import { proveView, resultsToBcs, resultsToJson } from './parts/proven-view.js'
import { parseAskedState } from './parts/request-parts.js'
import { expectProofSource, orProven, PROOF_PARAMETERS, parseAskedProof } from './parts/state-read.js'
import { TurnBudget } from './parts/turn-budget.js'
import { parseViewCall } from './parts/view-request.js'

export const callView: Operation = {
  id: 'view',
  method: 'POST',
  path: '/v1/view',
  negotiates: true,
  takesTurns: true,
  tag: 'View',
  summary: 'Execute view function',
  description:
    'Runs a view function at a version, with the modules and the state of that version. In BCS: the number of results, then each result. With `proof=true` the answer is `{value, proof}`: the results, and a proof of every value that the run read, so that a client can run the view itself. A wrong call or a failure while it runs is 400, with the status code of the virtual machine in `vm_error_code`.',
  parameters: [...STATE_PARAMETERS, ...PROOF_PARAMETERS],
  requestBody: { $ref: '#/components/schemas/ViewRequest' },
  bcsRequestType: VIEW_FUNCTION_BCS,
  success: { json: orProven({ type: 'array', items: {} }, 'ValuesProof'), bcs: { $ref: '#/components/schemas/Bytes' } },
  errors: BODY_ERRORS,
  handle(request) {
    const { rules, allowance } = request.views
    const turn = new TurnBudget(request)
    const began = performance.now()
    const format = chooseFormat(request.accept, 'json')
    const readCall = parseViewCall(request)
    const asked = parseAskedState(request.query)
    const asksProof = parseAskedProof(request)
    rules.expectServed()
    request.expectOutput(format, 'View function')
    const state = request.pin(asked)
    const proven = asksProof && proveView(request, state, expectProofSource(request, state), asksProof.from)
    const call = readCall()
    const options = { budget: allowance.left, computesElsewhere: true }
    const begin = () => (proven ? proven.start(call, options) : startView(state, call, options))
    const toAnswer = (results: readonly StoredValue[]) =>
      proven?.answer(results, format, turn) ?? {
        ledger: state.ledger,
        contentType: CONTENT_TYPE[format],
        body: format === 'json' ? resultsToJson(results) : resultsToBcs(results),
      }
    const view = begin()
    rules.expectAllowed(call.address, call.module, call.function)
    const results = runForATurn(request, view, began, turn)
    if (results) return toAnswer(results)
    return runInTurns(request, { view, begin }, began, turn).then(toAnswer)
  },
}

/** A view that has begun, unless it waits for a place: then it holds no values, and starts over. */
interface BegunView {
  view: StartedView | undefined
  readonly begin: () => StartedView
}

/** Runs a view that takes more than a turn. */
async function runInTurns(
  request: OperationRequest,
  begun: BegunView,
  began: number,
  turn: TurnBudget,
): Promise<readonly StoredValue[]> {
  const { places } = request.views
  if (places.areTaken) begun.view = undefined
  const place = await places.take()
  const view = begun.view ?? begun.begin()
  try {
    for (;;) {
      if (view.task) {
        place.rest()
        view.provide(await request.views.compute(view.task))
      }
      await place.run(view.bytes)
      await turn.nextTurn()
      const results = runForATurn(request, view, began, turn)
      if (results) return results
    }
  } finally {
    place.leave()
  }
}

/** Runs a view to its end, or until its turn is over or it needs another thread. Returns its results at the end. */
function runForATurn(
  request: OperationRequest,
  view: StartedView,
  began: number,
  turn: TurnBudget,
): readonly StoredValue[] | undefined {
  do {
    const results = advance(request, view, began)
    if (results) return results
  } while (!turn.isSpent && !view.task)
  return undefined
}

function advance({ views }: OperationRequest, view: StartedView, began: number): readonly StoredValue[] | undefined {
  try {
    return view.advance()
  } finally {
    const { report } = view
    if (report) {
      views.allowance.spend(report.usage)
      if (!report.isRepeated) views.onView?.({ ...report, seconds: (performance.now() - began) / 1_000 })
    }
  }
}
