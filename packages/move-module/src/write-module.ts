import { addressToLongHex, ByteWriter } from '@ledger-state/core'
import { ENUM_VERSION, FIELDS, FLAVOUR, FLAVOURED_VERSION, MAGIC, TABLE, TOKEN } from './binary-format.js'
import { needsModuleVersion } from './errors.js'
import type { FieldDefinition, ModuleId, MoveModule, SignatureToken, StructDefinition } from './module-definition.js'
import { ATTRIBUTES_KEY, resourceGroupsToMetadata } from './module-metadata.js'

/**
 * Writes a module that defines types and nothing else: no functions, and as metadata only the resource groups of its
 * structs. `readModule` reads the same module back. It is meant for demonstration ledgers and tests; we have not tried
 * whether a chain's verifier accepts such modules.
 * @throws `unsupported_type` for a token or an enum that the module's version does not know
 * @example
 * ```ts
 * import { parseAddress } from '@ledger-state/core'
 * import { readModule, writeModule } from '@ledger-state/move-module'
 *
 * const binary = writeModule({
 *   version: 7,
 *   address: parseAddress('0xcafe'),
 *   name: 'game',
 *   structs: [
 *     { kind: 'struct', name: 'Level', abilities: 8, typeParameters: [], fields: [{ name: 'value', type: { kind: 'u8' } }] },
 *   ],
 * })
 * console.log(readModule(binary).structs[0]!.name) // Level
 * ```
 */
export function writeModule(module: MoveModule): Uint8Array {
  return new ModuleWriter(module).write()
}

class ModuleWriter {
  readonly #module: MoveModule
  readonly #identifiers = new Table<string>(
    (name) => name,
    (writer, name) => writer.string(name),
  )
  readonly #addresses = new Table<Uint8Array>(addressToLongHex, (writer, address) => writer.bytes(address))
  readonly #moduleHandles = new Table<ModuleId>(
    ({ address, name }) => `${addressToLongHex(address)}::${name}`,
    (writer, { address, name }) =>
      writer.uleb128(this.#addresses.indexOf(address)).uleb128(this.#identifiers.indexOf(name)),
  )
  readonly #structHandles = new Table<
    ModuleId & { struct: string; definition?: StructDefinition | undefined; arity: number }
  >(
    ({ address, name, struct }) => `${addressToLongHex(address)}::${name}::${struct}`,
    (writer, { address, name, struct, definition, arity }) => {
      writer.uleb128(this.#moduleHandles.indexOf({ address, name })).uleb128(this.#identifiers.indexOf(struct))
      writer.u8(definition?.abilities ?? 0)
      const parameters = definition?.typeParameters ?? new Array(arity).fill({ constraints: 0, phantom: false })
      writer.uleb128(parameters.length)
      for (const { constraints, phantom } of parameters) writer.u8(constraints).bool(phantom)
    },
  )
  readonly #structDefinitions = new ByteWriter()

  constructor(module: MoveModule) {
    this.#module = module
  }

  write(): Uint8Array {
    const self = this.#moduleHandles.indexOf(this.#module)
    for (const definition of this.#module.structs) this.#ownHandle(definition)
    for (const definition of this.#module.structs) this.#writeDefinition(definition)

    const tables = [
      { kind: TABLE.moduleHandles, content: this.#moduleHandles.toBytes() },
      { kind: TABLE.structHandles, content: this.#structHandles.toBytes() },
      { kind: TABLE.identifiers, content: this.#identifiers.toBytes() },
      { kind: TABLE.addresses, content: this.#addresses.toBytes() },
      { kind: TABLE.structDefinitions, content: this.#structDefinitions.toBytes() },
      { kind: TABLE.metadata, content: this.#metadata() },
    ].filter(({ content }) => content.length > 0)

    const { version } = this.#module
    const writer = new ByteWriter().bytes(Uint8Array.from(MAGIC))
    writer.u32(version >= FLAVOURED_VERSION ? FLAVOUR + version : version).uleb128(tables.length)
    let offset = 0
    for (const { kind, content } of tables) {
      writer.u8(kind).uleb128(offset).uleb128(content.length)
      offset += content.length
    }
    for (const { content } of tables) writer.bytes(content)
    return writer.uleb128(self).toBytes()
  }

  #metadata(): Uint8Array {
    const value = resourceGroupsToMetadata(this.#module.structs)
    return value ? new ByteWriter().string(ATTRIBUTES_KEY).byteString(value).toBytes() : new Uint8Array(0)
  }

  #ownHandle(definition: StructDefinition): number {
    const { address, name } = this.#module
    return this.#structHandles.indexOf({ address, name, struct: definition.name, definition, arity: 0 })
  }

  #writeDefinition(definition: StructDefinition): void {
    const writer = this.#structDefinitions.uleb128(this.#ownHandle(definition))
    switch (definition.kind) {
      case 'native':
        writer.u8(FIELDS.native)
        break
      case 'struct':
        writer.u8(FIELDS.declared)
        this.#writeFields(definition.fields)
        break
      case 'enum':
        this.#expectVersion(ENUM_VERSION, `the enum ${definition.name}`)
        writer.u8(FIELDS.variants).uleb128(definition.variants.length)
        for (const variant of definition.variants) {
          writer.uleb128(this.#identifiers.indexOf(variant.name))
          this.#writeFields(variant.fields)
        }
    }
  }

  #writeFields(fields: readonly FieldDefinition[]): void {
    this.#structDefinitions.uleb128(fields.length)
    for (const { name, type } of fields) {
      this.#structDefinitions.uleb128(this.#identifiers.indexOf(name))
      this.#writeToken(type)
    }
  }

  #writeToken(token: SignatureToken): void {
    const writer = this.#structDefinitions
    switch (token.kind) {
      case 'vector':
        writer.u8(TOKEN.vector.tag)
        this.#writeToken(token.element)
        break
      case 'reference':
        writer.u8(token.mutable ? TOKEN.mutableReference.tag : TOKEN.reference.tag)
        this.#writeToken(token.to)
        break
      case 'typeParameter':
        writer.u8(TOKEN.typeParameter.tag).uleb128(token.index)
        break
      case 'function':
        this.#expectVersion(TOKEN.function.since, 'a function type')
        writer.u8(TOKEN.function.tag).u8(token.abilities)
        writer.uleb128(token.parameters.length).uleb128(token.results.length)
        for (const slot of [...token.parameters, ...token.results]) this.#writeToken(slot)
        break
      case 'struct': {
        const arity = token.typeArguments.length
        const handle = this.#structHandles.indexOf({ ...token.module, struct: token.name, arity })
        writer.u8(arity === 0 ? TOKEN.struct.tag : TOKEN.genericStruct.tag).uleb128(handle)
        if (arity > 0) writer.uleb128(arity)
        for (const argument of token.typeArguments) this.#writeToken(argument)
        break
      }
      default:
        this.#expectVersion(TOKEN[token.kind].since, token.kind)
        writer.u8(TOKEN[token.kind].tag)
    }
  }

  #expectVersion(since: number, what: string): void {
    if (this.#module.version >= since) return
    throw needsModuleVersion(what, since, this.#module.version)
  }
}

/** Entries of a table, each once, numbered in the order in which they are first asked for. */
class Table<T> {
  readonly #keyOf: (entry: T) => string
  readonly #write: (writer: ByteWriter, entry: T) => void
  readonly #indexes = new Map<string, number>()
  readonly #writer = new ByteWriter()

  constructor(keyOf: (entry: T) => string, write: (writer: ByteWriter, entry: T) => void) {
    this.#keyOf = keyOf
    this.#write = write
  }

  indexOf(entry: T): number {
    const key = this.#keyOf(entry)
    const known = this.#indexes.get(key)
    if (known !== undefined) return known
    const index = this.#indexes.size
    this.#indexes.set(key, index)
    this.#write(this.#writer, entry)
    return index
  }

  toBytes(): Uint8Array {
    return this.#writer.toBytes()
  }
}
