import { bytesToHex, type VersionWrites, type Write } from '@ledger-state/core'
import { createMemoryEngine, engineToAsync } from '@ledger-state/engine'
import { coinChanges, coinNameOf, coinStoreKey } from '@ledger-state/records'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { parseTypeTag } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import { FollowedCoins } from './followed-coins.js'
import { ValuesBefore } from './values-before.js'

const seed = testSeed()
const STORE = new Uint8Array(105)
const NO_STORE = new Uint8Array(104)

function textOf(writes: readonly Write[]): string[] {
  return writes.map(([key, value]) => `${bytesToHex(key)}=${value && bytesToHex(value)}`)
}

describe('followed coin stores', () => {
  it('have the changes of their keys, however many coin types there are and however long their names', async () => {
    const random = createRandom(seed)
    const accounts = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte))
    const coins = Array.from({ length: 40 }, (_, at) => {
      const argument = `0xcafe::n::${'A'.repeat(100)}${at}`
      const name = at % 4 === 0 ? `C<${new Array(60).fill(argument).join(', ')}>` : `C${at}`
      return parseTypeTag(`0xcafe::m::${name}`)
    })
    const engine = createMemoryEngine()
    const stores = new FollowedCoins(4)
    const held = new Set<string>()
    let version = 0n
    for (let commit = 0; commit < 40; commit++) {
      const before = new ValuesBefore()
      const writes = Array.from({ length: 1 + random.below(60) }, () => {
        const [tag, account] = [random.pick(coins), random.pick(accounts)]
        const key = coinStoreKey(account, tag)
        const value = random.pick([STORE, STORE, NO_STORE, null])
        const coin = stores.coinIn(key)!
        const place = stores.placeOf(key, coin)
        return { tag, account, key, value, coin, place, isSame: stores.isSame(place, value) }
      })
      stores.ask(before)
      await before.load(await engineToAsync(engine).snapshot())
      stores.load(before)
      const versions: VersionWrites[] = []
      for (const { tag, account, key, value, coin, place, isSame } of writes) {
        const name = bytesToHex(key)
        const expected = textOf(coinChanges(coinNameOf(tag), account, version, held.has(name), value === STORE))
        const changes = isSame ? [] : textOf(stores.write(place, coin, version, key, value))
        expect(changes, `seed ${seed}, version ${version}`).toEqual(expected)
        if (value === STORE) held.add(name)
        else held.delete(name)
        versions.push({ version, block: { height: version, epoch: 0n, timestampUsec: 0n }, writes: [[key, value]] })
        version++
      }
      stores.forgetOld()
      await engine.commit(versions, { chainId: 1 })
    }
  })
})
