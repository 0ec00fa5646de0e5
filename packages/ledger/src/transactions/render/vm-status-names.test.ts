import { expect, it } from 'vitest'
import { vmStatusName } from './vm-status-names.js'

it('every status code that a transaction may end with has the name of the reference', () => {
  const names: readonly (readonly [code: bigint, name: string])[] = [
    [31n, 'ACCOUNT_NOT_MULTISIG'],
    [42n, 'NONCE_ALREADY_USED'],
    [1081n, 'LINKER_ERROR'],
    [1125n, 'UNSTABLE_BYTECODE_REJECTED'],
    [1126n, 'PROGRAM_TOO_COMPLEX'],
    [1131n, 'FEATURE_NOT_ENABLED'],
    [1134n, 'INVALID_INIT_MODULE'],
    [2024n, 'SPECULATIVE_EXECUTION_ABORT_ERROR'],
    [4034n, 'ACCESS_DENIED'],
    [4036n, 'TOO_MANY_DELAYED_FIELDS'],
    [4039n, 'UNIMPLEMENTED_FUNCTIONALITY'],
    [4040n, 'RUNTIME_CYCLIC_MODULE_DEPENDENCY'],
    [4041n, 'UNABLE_TO_CAPTURE_DELAYED_FIELDS'],
  ]
  expect(names.map(([code]) => [code, vmStatusName(code)])).toEqual(names)
})

it('a code without a name is unknown', () => {
  for (const code of [999n, 2n ** 64n - 1n]) expect(vmStatusName(code)).toBe('UNKNOWN_STATUS')
})
