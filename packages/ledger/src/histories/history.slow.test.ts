import './history.test.js'
