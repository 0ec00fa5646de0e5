import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import type { TestProject } from 'vitest/node'
import type { RecordedAnswers } from './record-answers.ts'

declare module 'vitest' {
  interface ProvidedContext {
    recordedAnswers: RecordedAnswers
  }
}

/** Gives tests the answers of a node. A browser cannot start the program that records them. */
export function setup(project: TestProject): void {
  const program = fileURLToPath(new URL('record-answers.ts', import.meta.url))
  const printed = execFileSync(process.execPath, [...SOURCE_OPTIONS, program], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  project.provide('recordedAnswers', JSON.parse(printed) as RecordedAnswers)
}
