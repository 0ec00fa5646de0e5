import { isSlowRun } from '@ledger-state/testing/slow-run'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FENCE_LENGTH } from '../records/fences.js'
import { MAX_NODE_FENCES } from '../records/history-log-record.js'
import { MAX_FENCES } from '../records/latest-record.js'
import { MergedFences } from './merged-fences.js'

interface Node {
  readonly level: number
  readonly fences: Fence[]
}
interface Fence {
  readonly first: number
  readonly level: number
  readonly number: number
}

function toFences({ bytes }: MergedFences, start: number, end: number): Fence[] {
  const view = new DataView(bytes.buffer)
  return Array.from({ length: end - start }, (_, place) => {
    const at = FENCE_LENGTH * (start + place)
    return { first: view.getUint32(at + 4), level: view.getUint8(at + 8), number: view.getUint32(at + 11) }
  })
}

it('a MergedFences keeps the chunks of a key in order below few fences, and forgets those that ended', () => {
  const steps = fc.array(
    fc.record({ chunks: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 400 })), raise: fc.double({ min: 0, max: 1 }) }),
    { maxLength: 120 },
  )
  fc.assert(
    fc.property(steps, fc.boolean(), (drawn, isPruned) => {
      const list = new MergedFences()
      const nodes = new Map<number, Node>()
      let next = 1
      let oldest = 0
      let kept: number[] = []
      const append = (level: number, fences: MergedFences, start: number, end: number): number => {
        nodes.set(next, { level, fences: toFences(fences, start, end) })
        return next++
      }
      const chunksBelow = ({ level, number, first }: Fence): number[] => {
        if (level === 0) return [number]
        const node = nodes.get(number)!
        expect(node.level).toBe(level)
        expect(node.fences.length).toBeLessThanOrEqual(MAX_NODE_FENCES)
        expect(node.fences[0]!.first).toBe(first)
        for (const fence of node.fences) expect(fence.level).toBe(level - 1)
        return node.fences.flatMap(chunksBelow)
      }
      for (const { chunks, raise } of drawn) {
        // The interval of the newest chunk ends where the next one begins. Numbers of the history log serve as versions
        // here.
        list.dropEnded(0, oldest, 0, next)
        for (let count = 0; count < chunks; count++) {
          kept.push(next)
          list.push(0, next, 0, next++)
        }
        list.fold(append)
        expect(list.count).toBeLessThanOrEqual(MAX_FENCES)
        const fences = toFences(list, 0, list.count)
        for (const [at, fence] of fences.slice(1).entries()) {
          expect(fence.first).toBeGreaterThan(fences[at]!.first)
          expect(fence.level).toBeLessThanOrEqual(fences[at]!.level)
          expect(fence.level).toBeLessThan(8)
        }
        const reached = fences.flatMap(chunksBelow)
        expect(reached.slice(-kept.length || reached.length)).toEqual(kept)
        if (isPruned) oldest += Math.floor((next - oldest) * raise)
        kept = kept.filter((number, at) => (kept[at + 1] ?? next) > oldest && number > 0)
      }
    }),
    { numRuns: isSlowRun ? 40 : 15 },
  )
})
