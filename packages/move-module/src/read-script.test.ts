import { hexToBytes } from '@ledger-state/core'
import { describe, expect, it } from 'vitest'
import { scriptAbi } from './module-abi.js'
import { readScript } from './read-module.js'

/** `fun main(_account: &signer) {}`, as a compiler of 2024 writes it: its module is named `<SELF>_0`. */
const SCRIPT = hexToBytes(
  '0xa11ceb0b0700000a0405000407040e08122010321f01060c00083c53454c463e5f30046d61696effffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff14636f6d70696c6174696f6e5f6d65746164617461090003322e3003322e31000001030b000102',
)

describe('readScript', () => {
  it('reads the signature for the printed ABI', () => {
    const script = readScript(SCRIPT)
    expect(script).toEqual({
      typeParameters: [],
      parameters: [{ kind: 'reference', mutable: false, to: { kind: 'signer' } }],
    })
    expect(JSON.stringify(scriptAbi(script))).toBe(
      '{"name":"main","visibility":"public","is_entry":true,"is_view":false,"generic_type_params":[],"params":["&signer"],"return":[]}',
    )
  })

  it('refuses every cut', () => {
    for (let length = 0; length < SCRIPT.length; length++) {
      expect(() => readScript(SCRIPT.subarray(0, length))).toThrow(expect.objectContaining({ code: 'invalid_module' }))
    }
  })
})
