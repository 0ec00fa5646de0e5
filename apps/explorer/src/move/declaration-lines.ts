import type { Disassembly } from './disassemble.ts'

/** The declarations of a module as lines, in the order of their names, so that two versions can be compared. */
export function declarationLines({ friends, types, functions }: Disassembly): string {
  const ofTypes = types.flatMap(({ kind, name, parameters, abilities, variants }) => [
    `${kind} ${name}${parameters}${abilities.length > 0 ? ` has ${abilities.join(', ')}` : ''}`,
    ...variants.flatMap((variant) => [
      ...(variant.name === undefined ? [] : [`  ${variant.name}`]),
      ...variant.fields.map((field) => `    ${field.name}: ${field.type}`),
    ]),
  ])
  const ofFunctions = functions.map(({ signature, isView }) => `${isView ? '#[view] ' : ''}${signature}`).toSorted()
  return [...friends.map((name) => `friend ${name}`).toSorted(), ...ofTypes, ...ofFunctions, ''].join('\n')
}
