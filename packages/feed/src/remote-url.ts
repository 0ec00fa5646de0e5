// A separate entry point, so that a program that only reads its settings need not load the sources.
export { toRemoteUrl } from './requests/remote-url.js'
