// Checks the example of the README: its answer comes from this made-up ledger of one value, which one validator signs.
import { readFileSync } from 'node:fs'
import { madeCheckpoint } from '@ledger-state/feed/testing/made-checkpoint'
import { type MadeLedgerInfo, signedLedgerInfo, waypointHash } from '@ledger-state/feed/testing/synthetic-epochs'
import { LedgerHasher, rootOfStatePath, stateProofToJson } from '@ledger-state/proof'
import { encodeStateValue, tableItemKey } from '@ledger-state/type-tag'
import { expect, it } from 'vitest'

const validators = [{ secret: 7n, power: 10n }]
const ending: MadeLedgerInfo = {
  epoch: 0n,
  version: 0n,
  nextEpoch: { epoch: 1n, validators },
  validators: [],
  signers: [],
}

function madeAnswer() {
  const hasher = new LedgerHasher()
  const stateKey = tableItemKey(Uint8Array.from([...new Uint8Array(29), 7, 0xab, 0x1e]), Uint8Array.of(1))
  const stateValue = encodeStateValue({ value: Uint8Array.of(42), metadata: undefined })
  const leaf = { keyHash: hasher.hash('StateKey', stateKey), valueHash: hasher.hash('StateValue', stateValue) }
  const path = { leaf, siblings: [] }
  const stateRoot = rootOfStatePath(hasher, path, leaf.keyHash)
  const of = { epoch: 1n, version: 1n, end: 1n, nextEpoch: undefined, validators, signers: validators }
  const checkpoint = madeCheckpoint({ ...of, stateRoot })
  const proof = { stateKey, stateValue, path, checkpoint, epochEndings: [signedLedgerInfo(ending)] }
  return { value: '0x2a', proof: stateProofToJson(proof) }
}

it('the example of the README shows an answer that holds', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const shown = /^const answer = (\{.*?^\})$/ms.exec(readme)?.[1]
  // The formatter removes the quotes of names, and adds commas after the last members.
  const json = shown
    ?.replaceAll("'", '"')
    .replace(/^( *)(\w+):/gm, '$1"$2":')
    .replace(/,(\s*[}\]])/g, '$1')
  expect(JSON.parse(json ?? 'null')).toEqual(madeAnswer())
  expect(readme).toContain(`const waypoint = '0:${waypointHash(ending)}'`)
})
