// Chromium out of an npm package: nothing is installed by hand.
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

/** With one process a browser ends when its first page is closed. */
const REFUSED_ARGUMENTS = ['--single-process', '--disable-web-security', '--allow-running-insecure-content']

export async function openBrowser(): Promise<Browser> {
  return await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: chromium.args.filter((argument) => !REFUSED_ARGUMENTS.includes(argument)),
  })
}
