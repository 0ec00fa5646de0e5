import './command-line.test.js'
