import { compareBytes } from '@ledger-state/core/bytes'
import type { Instantiation, ModuleCode, SignatureToken } from '@ledger-state/move-module'
import { malformedCode } from '../faults/vm-fault.js'
import type { StructNames } from './struct-definitions.js'
import { visitTypes } from './visit-types.js'

/** Entries after which the check yields. */
const STEP = 64

/**
 * Expects of all entries of the tables, even of those that no code names: structs have as many type arguments as type
 * parameters, no type contains a reference, generic entries are instantiated with as many types as they have
 * parameters, and friends are other modules at the address of the module. It yields the number of types and entries
 * that the next or last step visits.
 * @throws VmFault
 */
export function* verifyWellFormed(code: ModuleCode, names: StructNames): Generator<number, void, void> {
  for (const signature of code.signatures) {
    let visited = 1
    for (const type of signature) {
      visited += visitTypes(type, (one) => expectWellFormed(one, names))
    }
    yield visited
  }
  const struct = (index: number) => code.structs[index]!.typeParameters.length
  yield* expectCounts(code.functionInstantiations, (of) => code.functionHandles[of]!.typeParameters.length)
  yield* expectCounts(code.structInstantiations, struct)
  yield* expectCounts(code.fieldInstantiations, (of) => struct(code.fieldHandles[of]!.struct))
  yield* expectCounts(code.variantFieldInstantiations, (of) => struct(code.variantFieldHandles[of]!.struct))
  yield* expectCounts(code.variantInstantiations, (of) => struct(code.variantHandles[of]!.struct))
  for (const friend of code.friends) {
    if (compareBytes(friend.address, code.address) !== 0) throw malformedCode('a friend at another address')
    if (names.isOwn(friend)) throw malformedCode('a module that is its own friend')
  }
  yield code.friends.length
}

function expectWellFormed(type: SignatureToken, names: StructNames): void {
  switch (type.kind) {
    case 'vector':
      expectValue(type.element)
      break
    case 'reference':
      if (type.to.kind === 'reference') throw malformedCode('a reference to a reference')
      break
    case 'struct':
      for (const argument of type.typeArguments) expectValue(argument)
      if (names.handleOf(type.module, type.name)?.typeParameters.length !== type.typeArguments.length) {
        throw malformedCode('a wrong number of type arguments')
      }
  }
}

function expectValue(type: SignatureToken): void {
  if (type.kind === 'reference') throw malformedCode('a reference in the place of a value')
}

/** `countOf` says how many type parameters an entry has. */
function* expectCounts(
  instantiations: readonly Instantiation[],
  countOf: (index: number) => number,
): Generator<number, void, void> {
  for (const [at, { of, typeArguments }] of instantiations.entries()) {
    if (at % STEP === 0) yield Math.min(STEP, instantiations.length - at)
    if (typeArguments.length !== countOf(of)) throw malformedCode('a wrong number of type arguments')
  }
}
