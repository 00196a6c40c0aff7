/** JupyterLab's and lumino's packages are ES modules, so they are transformed too. */
module.exports = {
  testEnvironment: 'jsdom',
  setupFiles: ['<rootDir>/src/__tests__/setup.cjs'],
  testMatch: ['<rootDir>/src/__tests__/*.spec.ts?(x)'],
  moduleNameMapper: {
    '\\.(css|svg)$': '<rootDir>/src/__tests__/asset.cjs'
  },
  transform: {
    '\\.[jt]sx?$': ['ts-jest', { tsconfig: '<rootDir>/tsconfig.test.json' }]
  },
  transformIgnorePatterns: ['/node_modules/(?!(@jupyterlab|@jupyter|@rjsf|@microsoft|exenv-es6|lib0|y-protocols|yjs)/)']
};
