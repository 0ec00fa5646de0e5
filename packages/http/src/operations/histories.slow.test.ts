import './histories.test.js'
