import { Buffer } from 'node:buffer'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyName } from '../writes-hash.js'

interface Place {
  readonly at: number
  readonly length: number
}

/** The modules of a state in a file, by their keys: of a whole network they are too many for memory. */
export class ModuleSpool {
  readonly #folder = mkdtempSync(join(tmpdir(), 'ledger-state-modules-'))
  readonly #file = openSync(join(this.#folder, 'modules'), 'w+')
  readonly #places = new Map<string, Place>()
  #end = 0

  put(key: Uint8Array, code: Uint8Array): void {
    writeSync(this.#file, code, 0, code.length, this.#end)
    this.#places.set(keyName(key), { at: this.#end, length: code.length })
    this.#end += code.length
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const place = this.#places.get(keyName(key))
    if (!place) return undefined
    const code = Buffer.alloc(place.length)
    for (let done = 0; done < place.length; ) {
      const count = readSync(this.#file, code, done, place.length - done, place.at + done)
      if (count === 0) return undefined
      done += count
    }
    return code
  }

  close(): void {
    closeSync(this.#file)
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
