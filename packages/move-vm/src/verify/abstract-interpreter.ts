import type { Block } from './control-flow.js'
import { traversalOf } from './traversal.js'
import type { VerifierMeter } from './verifier-meter.js'

/** The knowledge of an analysis at each offset of code: a state. States are never changed once they are returned. */
export interface Analysis<State> {
  /** The state after a block that begins with `state`. @throws VmFault */
  execute(state: State, block: Block): Generator<void, State, void>
  /** The state that covers two; undefined if `known` covers both. @throws VmFault */
  join(known: State, other: State): State | undefined
  /** How much of `VerifierMeter.keep` a state takes. */
  sizeOf(state: State): number
}

/** Runs an analysis over all blocks that control may reach, loops until their states are stable. @throws VmFault */
export function* analyze<State>(
  blocks: readonly Block[],
  initial: State,
  analysis: Analysis<State>,
  meter: VerifierMeter,
): Generator<void, void, void> {
  const traversal = traversalOf(blocks)
  const states: (State | undefined)[] = [initial]
  for (let block: number | undefined = 0; block !== undefined; ) {
    const after: State = yield* analysis.execute(states[block]!, blocks[block]!)
    let next: number | undefined = traversal.next[block]
    for (const successor of blocks[block]!.successors) {
      const known = states[successor]
      const joined: State | undefined = known === undefined ? after : analysis.join(known, after)
      if (joined === undefined) continue
      meter.keep(analysis.sizeOf(joined) - (known === undefined ? 0 : analysis.sizeOf(known)))
      states[successor] = joined
      if (known !== undefined && traversal.isBackEdge(block, successor)) next = successor
    }
    block = next
    meter.countBlock()
    if (meter.isStepOver()) yield
  }
}
