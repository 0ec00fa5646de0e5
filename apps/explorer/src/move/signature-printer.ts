import { addressToShortHex } from '@ledger-state/core'
import type { SignatureToken } from '@ledger-state/move-module'

/**
 * Most characters of all printed types of a module. A hostile module may name a type of 64 KB again and again, in a
 * byte or two each.
 */
const MOST_CHARACTERS = 1_000_000

/** Prints types as a module writes them; prints `…` once their limit in all is reached. */
export class SignaturePrinter {
  #left = MOST_CHARACTERS

  print(token: SignatureToken): string {
    if (this.#left <= 0) return '…'
    switch (token.kind) {
      case 'vector':
        return `${this.#spend('vector')}<${this.print(token.element)}>`
      case 'reference':
        return `${this.#spend(token.mutable ? '&mut ' : '&')}${this.print(token.to)}`
      case 'typeParameter':
        return this.#spend(`T${token.index}`)
      case 'struct': {
        const name = this.#spend(`${addressToShortHex(token.module.address)}::${token.module.name}::${token.name}`)
        return token.typeArguments.length === 0 ? name : `${name}<${this.printAll(token.typeArguments)}>`
      }
      case 'function':
        return `${this.#spend('|')}${this.printAll(token.parameters)}|${this.printAll(token.results)}`
      default:
        return this.#spend(token.kind)
    }
  }

  printAll(tokens: readonly SignatureToken[]): string {
    return tokens.map((token) => this.print(token)).join(', ')
  }

  #spend(text: string): string {
    this.#left -= text.length
    return text
  }
}
