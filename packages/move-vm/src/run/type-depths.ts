import type { Meter } from '../budget/meter.js'
import { fieldsOf, type LoadedStruct } from '../load/loaded-module.js'
import type { OpenType } from '../load/open-type.js'
import type { StructType, Type } from '../types/type.js'
import { MAX_VALUE_DEPTH, valueTooDeep } from '../values/copy-value.js'
import type { ModuleInstance } from './instances.js'
import type { DepthFormula, Levels } from './layout-tables.js'
import type { World } from './world.js'

const NO_TERMS: ReadonlyMap<number, number> = new Map()
const NO_LEVELS: Levels = { constant: 0, terms: NO_TERMS }
const ONE_LEVEL: Levels = { constant: 1, terms: NO_TERMS }

/** The formula of a struct as far as its fields are known. A step that runs again continues with the next field. */
interface UnfinishedFormula {
  next: number
  work: number
  levels: Levels
  readonly uses: Set<DepthFormula>
}

/**
 * Checks in one run that values of types are not too deep. Each struct has one formula, so that the work grows with the
 * definitions of structs and not with their instances.
 */
export class TypeDepths {
  readonly #world: World
  readonly #meter: Meter
  /** Structs whose formulas are being made, and formulas that are; undefined until one is made. */
  #begun: Set<LoadedStruct> | undefined
  #unfinished: Map<LoadedStruct, UnfinishedFormula> | undefined

  constructor(world: World) {
    this.#world = world
    this.#meter = world.meter
  }

  /**
   * Checks that values of a type are not too deep.
   * @throws VmFault, LackingKeys, StaleWorld, TurnOver
   */
  expectShallow(type: Type): void {
    const { shallow } = this.#world.layouts
    if (shallow[type.id] === this.#world.run) return
    this.#meter.chargeInstructions(type.size)
    if (this.#levelsOf(type, 1) > MAX_VALUE_DEPTH) throw valueTooDeep()
    this.#meter.keep(type.size, 0)
    shallow[type.id] = this.#world.run
  }

  /** Levels of the values of a type; `above` is the number of levels above it. */
  #levelsOf(type: Type, above: number): number {
    if (above > MAX_VALUE_DEPTH) throw valueTooDeep()
    if (type.kind === 'vector') return 1 + this.#levelsOf(type.element, above + 1)
    if (type.kind !== 'struct') return 1
    const module = this.#world.moduleOf(type)
    const { constant, terms } = this.#formulaOf(module, this.#structOf(module, type), above)
    let levels = constant
    for (const [index, more] of terms) {
      levels = Math.max(levels, more + this.#levelsOf(type.typeArguments[index]!, above + more))
    }
    return levels
  }

  #structOf({ loaded }: ModuleInstance, { name }: Pick<StructType, 'name'>): LoadedStruct {
    return loaded.structs.get(name)!
  }

  #formulaOf(module: ModuleInstance, struct: LoadedStruct, above: number): DepthFormula {
    const { depths } = this.#world.layouts
    const known = depths.get(struct)
    if (known) {
      this.#use(known)
      return known
    }
    this.#begun ??= new Set()
    if (above > MAX_VALUE_DEPTH || this.#begun.has(struct)) throw valueTooDeep()
    this.#begun.add(struct)
    try {
      const formula = this.#makeFormula(module, struct, above)
      depths.set(struct, formula)
      return formula
    } finally {
      this.#begun.delete(struct)
    }
  }

  #makeFormula(module: ModuleInstance, struct: LoadedStruct, above: number): DepthFormula {
    const { types } = module.loaded
    const fields = fieldsOf(struct.definition)
    this.#unfinished ??= new Map()
    const begun = this.#unfinished.get(struct) ?? { next: 0, work: 1, levels: NO_LEVELS, uses: new Set() }
    this.#unfinished.set(struct, begun)
    for (; begun.next < fields.length; begun.next++) {
      this.#meter.expectTurn()
      const { type } = fields[begun.next]!
      const size = types.sizeOf(type)
      this.#meter.chargeInstructions(size)
      begun.levels = deepest(begun.levels, this.#levelsOfField(types.of(type), begun.uses, above + 1))
      begun.work += size
      this.#meter.keep(size, 0)
      // Counted last: a turn that has just begun always comes to its first field.
      this.#meter.countWork(size)
    }
    this.#world.charge(1)
    const { constant, terms } = under(1, begun.levels)
    if (constant > MAX_VALUE_DEPTH) throw valueTooDeep()
    this.#unfinished.delete(struct)
    this.#world.recount(module.loaded)
    const { uses, work } = begun
    return { constant: Math.max(constant, 1), terms, module, uses, work, run: this.#world.run }
  }

  #levelsOfField(type: OpenType, uses: Set<DepthFormula>, above: number): Levels {
    if (above > MAX_VALUE_DEPTH) throw valueTooDeep()
    switch (type.kind) {
      case 'typeParameter':
        return { constant: 0, terms: new Map([[type.index, 0]]) }
      case 'vector':
        return under(1, this.#levelsOfField(type.element, uses, above + 1))
      case 'struct': {
        const module = this.#world.definerOf(type.struct, type.typeArguments.length)
        const formula = this.#formulaOf(module, this.#structOf(module, type.struct), above)
        uses.add(formula)
        let levels: Levels = { constant: formula.constant, terms: NO_TERMS }
        for (const [index, more] of formula.terms) {
          levels = deepest(levels, under(more, this.#levelsOfField(type.typeArguments[index]!, uses, above + more)))
        }
        return levels
      }
      default:
        return ONE_LEVEL
    }
  }

  /** Makes sure that the modules of a formula are the state's, and charges it. */
  #use(formula: DepthFormula): void {
    if (formula.run === this.#world.run) return
    this.#world.use(formula.module)
    for (const one of formula.uses) this.#use(one)
    formula.run = this.#world.run
    this.#world.charge(formula.work)
  }
}

/** Levels of values nested `more` levels deeper. */
function under(more: number, { constant, terms }: Levels): Levels {
  return {
    constant: constant === 0 ? 0 : constant + more,
    terms: terms.size === 0 ? terms : new Map([...terms].map(([index, levels]) => [index, levels + more])),
  }
}

function deepest(a: Levels, b: Levels): Levels {
  const constant = Math.max(a.constant, b.constant)
  if (a.terms.size === 0 || b.terms.size === 0) return { constant, terms: a.terms.size === 0 ? b.terms : a.terms }
  const terms = new Map(a.terms)
  for (const [index, levels] of b.terms) terms.set(index, Math.max(levels, terms.get(index) ?? 0))
  return { constant, terms }
}
