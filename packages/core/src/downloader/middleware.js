export {};
//# sourceMappingURL=middleware.js.map
