/** The build inlines package.json; it lies outside `rootDir`, so its type is said here. */
declare module '*/package.json' {
  export const version: string;
}


/** Loaded for what it does to the page. */
declare module '*.css';
