import { readFileSync } from 'node:fs'
import { didYouMean, type LedgerStateError } from '@ledger-state/core'
import { whyUnreadable } from '@ledger-state/core/files'
import { seeHelp, usageError } from '../errors.js'
import { type Option, parseAs } from './option.js'
import { isServiceLink } from './service-links.js'
import { configOption, settings } from './settings.js'

const ENVIRONMENT_PREFIX = 'LEDGER_STATE_'

/** Text of a setting, and its origin for error messages. */
export interface GivenText {
  readonly text: string
  readonly place: string
}

export type Configuration = ReadonlyMap<Option<unknown>, GivenText>

const ALL = Object.values<Option<unknown>>(settings)
const SETTING_NAMES = ALL.map(({ name }) => name)

export const environmentName = ({ name }: { readonly name: string }): string =>
  ENVIRONMENT_PREFIX + name.toUpperCase().replaceAll('-', '_')

/**
 * Reads the settings of the environment and of the file that `--config` or the environment names; the environment wins.
 * It parses all of them, even those that the command does not use.
 * @throws `usage`, naming the setting that is unknown or wrong
 */
export function readConfiguration(file: string | undefined, environment: NodeJS.ProcessEnv): Configuration {
  const given = new Map<Option<unknown>, GivenText>()
  const path = file ?? environment[environmentName(configOption)]
  if (path !== undefined) {
    readConfigurationFile(path, file === undefined ? environmentName(configOption) : `--${configOption.name}`, given)
  }
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith(ENVIRONMENT_PREFIX) || variable === environmentName(configOption)) continue
    const setting = ALL.find((candidate) => environmentName(candidate) === variable)
    if (!setting && isServiceLink(variable, text!)) continue
    if (!setting) throw notASetting(`the environment has ${variable}, which`, variable, ALL.map(environmentName))
    given.set(setting, { text: text!, place: variable })
  }
  for (const [setting, { text, place }] of given) parseAs(place, text, setting.parse)
  return given
}

function readConfigurationFile(path: string, origin: string, given: Map<Option<unknown>, GivenText>): void {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const expected = `${origin} names a JSON file of settings, such as {"retain": 1000000}`
    throw usageError(`${origin}: ${path} cannot be read: ${whyUnreadable(error)}; ${expected}`)
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw usageError(`${origin}: ${path} does not contain a JSON object, such as {"retain": 1000000}`)
  }
  for (const [name, value] of Object.entries(content)) {
    if (name === '$schema') continue
    const place = `${path}: ${JSON.stringify(name)}`
    const setting = ALL.find((candidate) => candidate.name === name)
    if (!setting) throw notASetting(place, name, SETTING_NAMES)
    given.set(setting, { text: textOf(setting, value, place), place })
  }
}

/** Error of an unknown setting. `subject` begins the sentence and says where the setting is. */
function notASetting(subject: string, name: string, known: readonly string[]): LedgerStateError {
  return usageError(`${subject} is not a setting${seeHelp(didYouMean(name, known), 'ledger-state config --help')}`)
}

function textOf({ value: valueName, isList }: Option<unknown>, value: unknown, place: string): string {
  if (isList && Array.isArray(value)) {
    if (value.every((one) => typeof one === 'string' && !one.includes(','))) return value.join()
    throw usageError(`${place}: expected a list of strings without commas`)
  }
  if (valueName === undefined) {
    if (typeof value === 'boolean') return String(value)
    throw usageError(`${place}: expected true or false`)
  }
  if (typeof value === 'string' || Number.isSafeInteger(value)) return String(value)
  throw usageError(`${place}: expected a string or a whole number`)
}

/** The value of every setting except secrets, as the content of a configuration file. */
export function effectiveConfiguration(given: Configuration): Record<string, string | number | boolean> {
  const effective: Record<string, string | number | boolean> = {}
  for (const setting of ALL) {
    const text = given.get(setting)?.text ?? setting.fallback
    if (text === undefined || setting.isSecret) continue
    const parsed = setting.parse(text)
    effective[setting.name] = typeof parsed === 'boolean' ? parsed : isNumberText(text) ? Number(text) : text
  }
  return effective
}

/** Whether a text is a whole number as JSON writes it: without zeros before it. */
function isNumberText(text: string): boolean {
  return /^(0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text))
}

/** JSON Schema of a configuration file, for editors. */
export function configurationSchema(): object {
  const properties = ALL.map((setting) => [setting.name, propertySchema(setting)])
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Settings of a Ledger State node',
    type: 'object',
    additionalProperties: false,
    properties: { $schema: { type: 'string' }, ...Object.fromEntries(properties) },
  }
}

function propertySchema({ value, description, fallback, isList }: Option<unknown>): object {
  if (isList) return { description, type: ['string', 'array'], items: { type: 'string' } }
  const isSwitch = value === undefined
  return {
    description,
    type: isSwitch ? 'boolean' : ['string', 'integer'],
    ...(fallback !== undefined && { default: isSwitch ? fallback === 'true' : fallback }),
  }
}
