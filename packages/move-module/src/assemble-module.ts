import { addressToLongHex, ByteWriter, parseAddress } from '@ledger-state/core'
import { FIELDS, FLAVOUR, FLAVOURED_VERSION, MAGIC, NEWEST_VERSION, TABLE, TOKEN } from './binary-format.js'
import type { ModuleId, SignatureToken, TypeParameter } from './module-definition.js'
import { ATTRIBUTES_KEY } from './module-metadata.js'
import { OPCODES, type OpcodeName } from './opcodes.js'

/** Function that an instruction calls: one of this module, or of another one. */
export interface Callee {
  readonly module?: ModuleId
  readonly name: string
  readonly parameters?: readonly SignatureToken[]
  readonly results?: readonly SignatureToken[]
  readonly typeParameters?: readonly number[]
  readonly typeArguments?: readonly SignatureToken[]
}

/**
 * An instruction with its operand, or a label. The operand is a number, a label (branches), a local, a struct or
 * `struct.field` or `struct::Variant`, a type (vectors, closures), or a callee.
 */
export type AssemblyLine =
  | { readonly label: string }
  | readonly [OpcodeName]
  | readonly [OpcodeName, number | bigint | string | Callee | SignatureToken | AssembledConstant | AssembledField]
  | readonly [OpcodeName, SignatureToken | Callee, number | bigint]

/** A constant that an instruction loads: its BCS and its type. */
export interface AssembledConstant {
  readonly constant: Uint8Array
  readonly type: SignatureToken
}

/** A field of a generic struct that the module defines, as `S.field`, with type arguments. */
export interface AssembledField {
  readonly field: string
  readonly typeArguments: readonly SignatureToken[]
}

/** A function of an assembled module. */
export interface AssembledFunction {
  readonly name: string
  readonly parameters?: readonly SignatureToken[]
  readonly results?: readonly SignatureToken[]
  readonly typeParameters?: readonly number[]
  readonly locals?: readonly SignatureToken[]
  readonly visibility?: 'private' | 'public' | 'friend'
  /** Whether the function is a view; by default it is if it has results. */
  readonly isView?: boolean
  readonly isNative?: boolean
  readonly attributes?: readonly number[]
  /** Structs that the function acquires; by default those that its code and the functions that it calls need. */
  readonly acquires?: readonly string[]
  readonly code?: readonly AssemblyLine[]
}

/** A struct of an assembled module, or an enum if it has variants. */
export interface AssembledStruct {
  readonly name: string
  readonly abilities?: number
  /** Type parameters, or only the abilities that an argument of each must have. */
  readonly typeParameters?: readonly (number | TypeParameter)[]
  /** Whether the type is native: no module shows its fields. */
  readonly isNative?: boolean
  /** Type of the resource group that the struct is a member of, such as `0x1::object::ObjectGroup`. */
  readonly group?: string
  readonly fields?: readonly (readonly [name: string, type: SignatureToken])[]
  readonly variants?: readonly {
    readonly name: string
    readonly fields: readonly (readonly [string, SignatureToken])[]
  }[]
}

/** A struct of another module, as far as verifiers read of it. */
export interface ImportedStruct extends Pick<AssembledStruct, 'name' | 'abilities' | 'typeParameters'> {
  readonly module: ModuleId
}

/** A module with code, with names in the place of the indexes of the binary. */
export interface Assembly {
  /** Version of the binary format; by default 10, the newest. */
  readonly version?: number
  /** Address of the module; 0x42 by default. */
  readonly address?: string
  readonly name: string
  readonly structs?: readonly AssembledStruct[]
  /** Structs of other modules; those that are not among them have all abilities, and no phantom type parameters. */
  readonly imports?: readonly ImportedStruct[]
  readonly functions: readonly AssembledFunction[]
  /** Abort codes with their names and texts. */
  readonly errors?: readonly (readonly [code: bigint, name: string, text: string])[]
}

/**
 * Writes a module with code: instructions by name, with names as operands. It is meant for demonstration ledgers, and
 * for tests of programs that run modules. It checks nothing, so that tests can write modules that no compiler would.
 * @example
 * ```ts
 * import { assembleModule, readModuleCode } from '@ledger-state/move-module'
 *
 * const binary = assembleModule({
 *   address: '0xcafe',
 *   name: 'numbers',
 *   functions: [
 *     {
 *       name: 'twice',
 *       parameters: [{ kind: 'u64' }],
 *       results: [{ kind: 'u64' }],
 *       code: [['copy_loc', 0], ['move_loc', 0], ['add'], ['ret']],
 *     },
 *   ],
 * })
 * console.log([...readModuleCode(binary).views].join()) // twice
 * ```
 */
export function assembleModule(assembly: Assembly): Uint8Array {
  return new Assembler(assembly).write()
}

const ALL_ABILITIES = 15
const VISIBILITY = { private: 0, public: 1, friend: 3 } as const
/** First version of the binary format in which functions have attributes. */
const ATTRIBUTES_VERSION = 8
/** Kind of the attribute of a struct that is a member of a group. */
const GROUP_MEMBER = 3
const ATTRIBUTES_WITH_OPERAND = [4, 6, 7, 8, 9]

const ACQUIRING = /^(?:move_from|(?:mut|imm)_borrow_global)(?:_generic)?$/

/**
 * The names of the structs that each function acquires: structs that its code names, and structs that called functions
 * acquire.
 */
function acquiredStructs(functions: readonly AssembledFunction[], self: ModuleId): Map<string, readonly string[]> {
  const acquired = new Map(functions.map(({ name }) => [name, new Set<string>()]))
  for (let isStable = false; !isStable; ) {
    isStable = true
    for (const { name, code = [], acquires } of functions) {
      const own = acquired.get(name)!
      const before = own.size
      for (const struct of acquires ?? code.flatMap((line) => acquiredBy(line, acquired, self))) own.add(struct)
      if (own.size > before) isStable = false
    }
  }
  return new Map([...acquired].map(([name, structs]) => [name, [...structs]]))
}

function acquiredBy(
  line: AssemblyLine,
  acquired: ReadonlyMap<string, ReadonlySet<string>>,
  self: ModuleId,
): readonly string[] {
  if ('label' in line) return []
  const [opcode, operand] = line
  if (ACQUIRING.test(opcode)) {
    if (typeof operand === 'string') return [operand]
    return typeof operand === 'object' && 'name' in operand ? [operand.name] : []
  }
  if (!opcode.startsWith('call') || typeof operand !== 'object' || !('name' in operand)) return []
  return isSameModule(operand.module ?? self, self) ? [...(acquired.get(operand.name) ?? [])] : []
}

function isSameModule(a: ModuleId, b: ModuleId): boolean {
  return a.name === b.name && addressToLongHex(a.address) === addressToLongHex(b.address)
}

class Entries {
  readonly #indexes = new Map<string, number>()
  readonly writer = new ByteWriter()

  add(key: string, write: (writer: ByteWriter) => void): number {
    const known = this.#indexes.get(key)
    if (known !== undefined) return known
    // Entries of other tables that the entry needs are added first; it needs none of its own table.
    const entry = new ByteWriter()
    write(entry)
    const index = this.#indexes.size
    this.#indexes.set(key, index)
    this.writer.bytes(entry.toBytes())
    return index
  }
}

class Assembler {
  readonly #assembly: Assembly
  readonly #self: ModuleId
  readonly #version: number
  readonly #tables = new Map<number, Entries>()
  /** Names of the structs that the code of each function acquires. */
  readonly #acquired: ReadonlyMap<string, readonly string[]>

  constructor(assembly: Assembly) {
    this.#assembly = assembly
    this.#version = assembly.version ?? NEWEST_VERSION
    this.#self = { address: parseAddress(assembly.address ?? '0x42'), name: assembly.name }
    this.#acquired = acquiredStructs(assembly.functions, this.#self)
  }

  write(): Uint8Array {
    const { structs = [], functions } = this.#assembly
    const self = this.#module(this.#self)
    for (const struct of structs) this.#structHandle(this.#self, struct.name, struct)
    for (const one of functions) this.#functionHandle(one)
    for (const struct of structs) this.#defineStruct(struct)
    for (const one of functions) this.#defineFunction(one)
    this.#metadata()
    const tables = [...this.#tables].map(([kind, { writer }]) => ({ kind, bytes: writer.toBytes() }))
    const filled = tables.filter(({ bytes }) => bytes.length > 0).sort((a, b) => a.kind - b.kind)
    const writer = new ByteWriter().bytes(Uint8Array.from(MAGIC))
    writer.u32(this.#version >= FLAVOURED_VERSION ? FLAVOUR + this.#version : this.#version).uleb128(filled.length)
    let offset = 0
    for (const { kind, bytes } of filled) {
      writer.u8(kind).uleb128(offset).uleb128(bytes.length)
      offset += bytes.length
    }
    for (const { bytes } of filled) writer.bytes(bytes)
    return writer.uleb128(self).toBytes()
  }

  #table(kind: number): Entries {
    const known = this.#tables.get(kind)
    if (known) return known
    const made = new Entries()
    this.#tables.set(kind, made)
    return made
  }

  #identifier(name: string): number {
    return this.#table(TABLE.identifiers).add(name, (writer) => writer.string(name))
  }

  #module({ address, name }: ModuleId): number {
    const text = addressToLongHex(address)
    const at = this.#table(TABLE.addresses).add(text, (writer) => writer.bytes(address))
    const identifier = this.#identifier(name)
    return this.#table(TABLE.moduleHandles).add(`${text}::${name}`, (writer) => writer.uleb128(at).uleb128(identifier))
  }

  #structHandle(module: ModuleId, name: string, definition?: AssembledStruct, arity = 0): number {
    const moduleAt = this.#module(module)
    const identifier = this.#identifier(name)
    const own = definition ?? (moduleAt === 0 ? this.#ownStruct(name) : this.#importedStruct(module, name))
    return this.#table(TABLE.structHandles).add(`${moduleAt}::${name}`, (writer) => {
      writer
        .uleb128(moduleAt)
        .uleb128(identifier)
        .u8(own?.abilities ?? ALL_ABILITIES)
      const parameters = own?.typeParameters ?? new Array<number>(arity).fill(0)
      writer.uleb128(parameters.length)
      for (const one of parameters) {
        const { constraints, phantom } = typeof one === 'number' ? { constraints: one, phantom: false } : one
        writer.u8(constraints).bool(phantom)
      }
    })
  }

  #ownStruct(name: string): AssembledStruct | undefined {
    return this.#assembly.structs?.find((one) => one.name === name)
  }

  #importedStruct({ address, name: moduleName }: ModuleId, name: string): ImportedStruct | undefined {
    const from = { address, name: moduleName }
    return this.#assembly.imports?.find((one) => one.name === name && isSameModule(one.module, from))
  }

  #token(writer: ByteWriter, token: SignatureToken): void {
    const all = (tokens: readonly SignatureToken[]) => {
      for (const one of tokens) this.#token(writer, one)
    }
    switch (token.kind) {
      case 'vector':
        writer.u8(TOKEN.vector.tag)
        all([token.element])
        break
      case 'reference':
        writer.u8(token.mutable ? TOKEN.mutableReference.tag : TOKEN.reference.tag)
        all([token.to])
        break
      case 'typeParameter':
        writer.u8(TOKEN.typeParameter.tag).uleb128(token.index)
        break
      case 'function':
        writer.u8(TOKEN.function.tag).u8(token.abilities).uleb128(token.parameters.length).uleb128(token.results.length)
        all([...token.parameters, ...token.results])
        break
      case 'struct': {
        const arity = token.typeArguments.length
        const handle = this.#structHandle(token.module, token.name, undefined, arity)
        writer.u8(arity === 0 ? TOKEN.struct.tag : TOKEN.genericStruct.tag).uleb128(handle)
        if (arity > 0) writer.uleb128(arity)
        all(token.typeArguments)
        break
      }
      default:
        writer.u8(TOKEN[token.kind].tag)
    }
  }

  #signature(tokens: readonly SignatureToken[]): number {
    const writer = new ByteWriter().uleb128(tokens.length)
    for (const token of tokens) this.#token(writer, token)
    const bytes = writer.toBytes()
    return this.#table(TABLE.signatures).add(bytes.join(), (entries) => entries.bytes(bytes))
  }

  #functionHandle({
    module = this.#self,
    name,
    parameters = [],
    results = [],
    typeParameters = [],
    attributes = [],
  }: Callee & {
    readonly attributes?: readonly number[]
  }): number {
    const moduleAt = this.#module(module)
    const identifier = this.#identifier(name)
    const signatures = [this.#signature(parameters), this.#signature(results)]
    return this.#table(TABLE.functionHandles).add(`${moduleAt}::${name}`, (writer) => {
      writer.uleb128(moduleAt).uleb128(identifier)
      for (const signature of signatures) writer.uleb128(signature)
      writer.uleb128(typeParameters.length)
      for (const constraint of typeParameters) writer.u8(constraint)
      if (this.#version >= FLAVOURED_VERSION) writer.u8(1)
      if (this.#version >= ATTRIBUTES_VERSION) {
        writer.uleb128(attributes.length)
        for (const attribute of attributes) {
          writer.u8(attribute)
          if (ATTRIBUTES_WITH_OPERAND.includes(attribute)) writer.u16(0)
        }
      }
    })
  }

  #defineStruct(struct: AssembledStruct): void {
    const handle = this.#structHandle(this.#self, struct.name, struct)
    this.#table(TABLE.structDefinitions).add(struct.name, (writer) => {
      writer.uleb128(handle)
      const writeFields = (fields: readonly (readonly [string, SignatureToken])[]) => {
        writer.uleb128(fields.length)
        for (const [name, type] of fields) {
          writer.uleb128(this.#identifier(name))
          this.#token(writer, type)
        }
      }
      if (struct.isNative) {
        writer.u8(FIELDS.native)
        return
      }
      if (!struct.variants) {
        writer.u8(FIELDS.declared)
        writeFields(struct.fields ?? [])
        return
      }
      writer.u8(FIELDS.variants).uleb128(struct.variants.length)
      for (const { name, fields } of struct.variants) {
        writer.uleb128(this.#identifier(name))
        writeFields(fields)
      }
    })
  }

  #defineFunction(one: AssembledFunction): void {
    const handle = this.#functionHandle(one)
    const locals = this.#signature(one.locals ?? [])
    const acquires = one.acquires ?? this.#acquired.get(one.name)!
    this.#table(TABLE.functionDefinitions).add(one.name, (writer) => {
      writer
        .uleb128(handle)
        .u8(VISIBILITY[one.visibility ?? 'public'])
        .u8(one.isNative ? 2 : 0)
        .uleb128(acquires.length)
      for (const struct of acquires) writer.uleb128(this.#structIndex(struct))
      if (one.isNative) return
      writer.uleb128(locals)
      this.#writeCode(writer, one.code ?? [])
    })
  }

  #writeCode(writer: ByteWriter, lines: readonly AssemblyLine[]): void {
    const labels = new Map<string, number>()
    let count = 0
    for (const line of lines) {
      if ('label' in line) labels.set(line.label, count)
      else count++
    }
    writer.uleb128(count)
    for (const line of lines) if (!('label' in line)) this.#writeInstruction(writer, line, labels)
  }

  #writeInstruction(
    writer: ByteWriter,
    [name, operand, second]: Exclude<AssemblyLine, { label: string }> & readonly unknown[],
    labels: ReadonlyMap<string, number>,
  ): void {
    const { code, operand: form } = OPCODES[name]
    writer.u8(code)
    if (form.kind === 'unsigned' || form.kind === 'signed') {
      writer.integer(BigInt(operand as number), form.bytes)
      return
    }
    if (operand === undefined) return
    writer.uleb128(this.#operand(name, operand as never, labels))
    if (form.kind === 'indexAndCount') writer.u64(BigInt(second as number))
    else if (form.kind === 'indexAndMask') writer.uleb128(Number(second))
  }

  #operand(
    name: OpcodeName,
    operand: number | string | Callee | SignatureToken | AssembledConstant | AssembledField,
    labels: ReadonlyMap<string, number>,
  ): number {
    if (typeof operand === 'number') return operand
    if (typeof operand === 'string') return labels.get(operand) ?? this.#structOperand(operand)
    if ('constant' in operand) {
      const writer = new ByteWriter()
      this.#token(writer, operand.type)
      const bytes = writer.byteString(operand.constant).toBytes()
      return this.#table(TABLE.constants).add(bytes.join(), (entries) => entries.bytes(bytes))
    }
    if ('field' in operand) {
      const signature = this.#signature(operand.typeArguments)
      const handle = this.#structOperand(operand.field)
      return this.#table(TABLE.fieldInstantiations).add(`${handle}<${signature}`, (writer) =>
        writer.uleb128(handle).uleb128(signature),
      )
    }
    if ('kind' in operand) {
      if (!name.endsWith('_generic')) return this.#signature([operand])
      // A generic struct that this module defines.
      const struct = operand as SignatureToken & { kind: 'struct' }
      const definition = this.#structIndex(struct.name)
      const signature = this.#signature(struct.typeArguments)
      return this.#table(TABLE.structInstantiations).add(`${definition}<${signature}`, (writer) =>
        writer.uleb128(definition).uleb128(signature),
      )
    }
    const own = operand.module ? undefined : this.#assembly.functions.find((one) => one.name === operand.name)
    const handle = this.#functionHandle({ ...own, ...operand })
    if (!operand.typeArguments) return handle
    const signature = this.#signature(operand.typeArguments)
    return this.#table(TABLE.functionInstantiations).add(`${handle}<${signature}`, (writer) =>
      writer.uleb128(handle).uleb128(signature),
    )
  }

  #structIndex(name: string): number {
    return this.#assembly.structs!.findIndex((one) => one.name === name)
  }

  /** Resolves an operand: `S`, `S.field`, `E::Variant`, or `E::A|B.field`. */
  #structOperand(text: string): number {
    const [, structName, variants, field] = /^(\w+)(?:::([\w|]+))?(?:\.(\w+))?$/.exec(text)!
    const index = this.#structIndex(structName!)
    const struct = this.#assembly.structs![index]!
    const variantIndexes = variants
      ?.split('|')
      .map((one) => struct.variants!.findIndex((variant) => variant.name === one))
    if (field !== undefined && variantIndexes) {
      const at = struct.variants![variantIndexes[0]!]!.fields.findIndex(([one]) => one === field)
      return this.#table(TABLE.variantFieldHandles).add(text, (writer) => {
        writer.uleb128(index).uleb128(at).uleb128(variantIndexes.length)
        for (const one of variantIndexes) writer.uleb128(one)
      })
    }
    if (field !== undefined) {
      const at = struct.fields!.findIndex(([one]) => one === field)
      return this.#table(TABLE.fieldHandles).add(text, (writer) => writer.uleb128(index).uleb128(at))
    }
    if (!variantIndexes) return index
    return this.#table(TABLE.variantHandles).add(text, (writer) => writer.uleb128(index).uleb128(variantIndexes[0]!))
  }

  #metadata(): void {
    const { structs = [], functions, errors = [] } = this.#assembly
    const views = functions.filter(({ isView, results = [] }) => isView ?? results.length > 0).map(({ name }) => name)
    views.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    const value = new ByteWriter().uleb128(errors.length)
    for (const [code, name, text] of errors) value.u64(code).string(name).string(text)
    const byName = (a: { name: string }, b: { name: string }) =>
      a.name.length - b.name.length || (a.name < b.name ? -1 : 1)
    const members = structs.filter(({ group }) => group !== undefined).sort(byName)
    if (errors.length + members.length + views.length === 0) return
    value.uleb128(members.length)
    for (const { name, group } of members) value.string(name).uleb128(1).u8(GROUP_MEMBER).uleb128(1).string(group!)
    value.uleb128(views.length)
    for (const name of views) value.string(name).uleb128(1).u8(1).uleb128(0)
    const bytes = value.toBytes()
    this.#table(TABLE.metadata).add('', (writer) => writer.string(ATTRIBUTES_KEY).byteString(bytes))
  }
}
