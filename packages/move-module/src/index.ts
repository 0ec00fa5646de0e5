export type { ModuleErrorCode } from './errors.js'
export { type GetModule, type LayoutOptions, layoutOf, MAX_LAYOUT_NODES } from './layout-of.js'
export {
  ABILITY,
  type FieldDefinition,
  type ModuleId,
  type MoveModule,
  type SignatureToken,
  type StructDefinition,
  type TypeParameter,
  type VariantDefinition,
} from './module-definition.js'
export { readModule } from './read-module.js'
export { writeModule } from './write-module.js'
