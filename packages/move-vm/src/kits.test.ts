import { createRandom, testSeed } from '@ledger-state/testing/random'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { beforeAll, describe, expect, it } from 'vitest'
import { answerRequest, findDifference, type Kit, type KitAnswer, MemoryLedger, readKit } from '../testing/kits.js'
import { SlowState } from '../testing/test-state.js'
import { createVm } from './index.js'

// Requests of the kits that the vm answers by itself. Requests about HTTP are tested in packages/http.

/** One of this many requests is asked, each three times of one vm; the slow run asks all. */
const EACH = isSlowRun ? 1 : 10

const KITS = ['views-ops', 'views-programs', 'views-framework', 'views-errors']

describe.skipIf(!hasSharedData).each(KITS)('the kit %s', (name) => {
  const vm = createVm()
  const ledgers = new Map<string, MemoryLedger>()
  let kit: Kit

  beforeAll(async () => {
    kit = readKit(name)
    for (const { area, serve } of kit.sources) ledgers.set(area, await MemoryLedger.load(serve))
  })

  it('is answered as a real VM answered, each time and in any order', () => {
    const seed = testSeed()
    const random = createRandom(seed)
    const asked = kit.requests.filter((_, at) => at % EACH === 0)
    const first = new Map<string, KitAnswer>()
    const differences: string[] = []
    for (const requests of [asked, random.shuffled(asked), random.shuffled(asked)]) {
      for (const request of requests) {
        const { status, vm_error_code: code } = request.expect
        // A request that is refused without a code of the VM was refused before it reached the vm.
        if (status !== 200 && code === undefined) continue
        const answer = answerRequest(vm, ledgers.get(request.area)!, request)
        if (!answer) continue
        const difference = findDifference(request, answer)
        if (difference !== undefined) differences.push(`${request.id}: ${difference}`)
        const known = first.get(request.id)
        if (known) expect(answer, `${request.id}, TEST_SEED=${seed}`).toEqual(known)
        else first.set(request.id, answer)
      }
    }
    expect(differences).toEqual([])
    expect(first.size).toBeGreaterThan(kit.requests.length / (4 * EACH))
  })

  it('counts the same in one piece, warm, and if nothing is loaded at first', () => {
    for (const request of kit.requests.filter((_, at) => at % (6 * EACH) === 0)) {
      const ledger = ledgers.get(request.area)!
      const whole = answerRequest(createVm(), ledger, request)
      const warm = answerRequest(vm, ledger, request)
      const pieces = answerRequest(createVm(), ledger, request, (state) => new SlowState(state))
      expect(warm, request.id).toEqual(whole)
      expect(pieces, request.id).toEqual(whole)
    }
  })
})
