import { ByteWriter } from '@ledger-state/core'
import { type LedgerState, type StartedView, type StoredValue, startView } from '@ledger-state/ledger'
import { chooseFormat } from '../protocol/accept.js'
import { CONTENT_TYPE, type OutputFormat, VIEW_FUNCTION_BCS } from '../protocol/media-types.js'
import { type Answer, BODY_ERRORS, type Operation, type OperationRequest, STATE_PARAMETERS } from './parts/operation.js'
import { parseAskedState } from './parts/request-parts.js'
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
    'Runs a view function at a version, with the modules and the state of that version. In BCS: the number of results, then each result. A wrong call or a failure while it runs is 400, with the status code of the virtual machine in `vm_error_code`.',
  parameters: STATE_PARAMETERS,
  requestBody: { $ref: '#/components/schemas/ViewRequest' },
  bcsRequestType: VIEW_FUNCTION_BCS,
  success: { json: { type: 'array', items: {} }, bcs: { $ref: '#/components/schemas/Bytes' } },
  errors: BODY_ERRORS,
  handle(request) {
    const { rules, allowance } = request.views
    const turn = new TurnBudget(request)
    const began = performance.now()
    const format = chooseFormat(request.accept, 'json')
    const readCall = parseViewCall(request)
    const asked = parseAskedState(request.query)
    rules.expectServed()
    request.expectOutput(format, 'View function')
    const state = request.pin(asked)
    const call = readCall()
    const begin = () => startView(state, call, { budget: allowance.left, computesElsewhere: true })
    const view = begin()
    rules.expectAllowed(call.address, call.module, call.function)
    const results = runForATurn(request, view, began, turn)
    if (results) return toAnswer(state, format, results)
    return runInTurns(request, { view, begin }, began, turn).then((late) => toAnswer(state, format, late))
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

function toAnswer(state: LedgerState, format: OutputFormat, results: readonly StoredValue[]): Answer {
  const body = format === 'json' ? Buffer.from(resultsToJson(results)) : resultsToBcs(results)
  return { ledger: state.ledger, contentType: CONTENT_TYPE[format], body }
}

function resultsToJson(results: readonly StoredValue[]): string {
  return `[${results.map((value) => value.toJson()).join(',')}]`
}

function resultsToBcs(results: readonly StoredValue[]): Uint8Array {
  const writer = new ByteWriter().uleb128(results.length)
  for (const { bytes } of results) writer.bytes(bytes)
  return writer.toBytes()
}
