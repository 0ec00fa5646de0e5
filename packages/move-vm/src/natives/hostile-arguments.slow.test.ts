import './hostile-arguments.test.js'
