import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { CHROMIUM_ARGUMENTS, chromiumPath } from '@ledger-state/testing/chromium'
import { type Browser, chromium, type Page } from 'playwright-core'

export type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core'

export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: await chromiumPath(), args: [...CHROMIUM_ARGUMENTS] })
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/**
 * Findings of axe about a page, each as a line. The page's policy forbids foreign scripts, so axe runs outside of the
 * policy.
 */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }
  await evaluate(await readFile(AXE, 'utf8'))
  const findings = await evaluate(`axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 160) + ' ' + failureSummary)))`)
  await session.detach()
  return findings as string[]
}
