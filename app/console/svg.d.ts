/** A drawing that a module imports is its address, seen from the module. */
declare module "*.svg" {
  const address: string;
  export default address;
}
