export {};
//# sourceMappingURL=spider-middleware.js.map
