import { ABILITY } from '@ledger-state/move-module'
import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import type { Type } from '../types/type.js'
import type { World } from './world.js'

const PLAIN = ABILITY.copy | ABILITY.drop | ABILITY.store

/** Abilities of a struct; each needs a certain ability of the struct's type arguments. */
const NEEDED: readonly (readonly [ability: number, ofArguments: number])[] = [
  [ABILITY.copy, ABILITY.copy],
  [ABILITY.drop, ABILITY.drop],
  [ABILITY.store, ABILITY.store],
  [ABILITY.key, ABILITY.store],
]

/**
 * The abilities of a type. All structs in it, including phantom ones, must exist and have type arguments that fit their
 * declaration.
 * @throws VmFault, LackingKeys
 */
export function abilitiesOf(type: Type, world: World): number {
  switch (type.kind) {
    case 'signer':
      return ABILITY.drop
    case 'vector':
      return abilitiesOf(type.element, world) & PLAIN
    case 'function':
      return type.abilities
    case 'reference':
      return ABILITY.copy | ABILITY.drop
    case 'struct': {
      const { definition } = world.structOf(type)
      const { typeParameters } = definition
      const ofArguments = type.typeArguments.map((argument) => abilitiesOf(argument, world))
      expectAbilities(
        ofArguments,
        typeParameters.map(({ constraints }) => constraints),
      )
      const relevant = ofArguments.filter((_, at) => !typeParameters[at]!.phantom)
      return NEEDED.reduce((abilities, [ability, needed]) => {
        const has = definition.abilities & ability && relevant.every((one) => (one & needed) !== 0)
        return has ? abilities | ability : abilities
      }, 0)
    }
    default:
      return PLAIN
  }
}

/** Checks that type arguments have the abilities that type parameters ask for. @throws VmFault */
export function expectAbilities(found: readonly number[], constraints: readonly number[]): void {
  if (found.some((abilities, at) => (constraints[at]! & ~abilities) !== 0)) {
    throw new VmFault(STATUS.CONSTRAINT_NOT_SATISFIED)
  }
}
